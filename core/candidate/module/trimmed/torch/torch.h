// In the place of torch's.
#pragma once

#include <torch/types.h>
