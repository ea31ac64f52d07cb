// In the place of torch's, which has all operators.
#pragma once

#include <ATen/ATen.h>
