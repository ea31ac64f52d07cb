// In the place of torch's, which each operator's header includes and none needs.
#pragma once

#include <ATen/core/Tensor.h>
