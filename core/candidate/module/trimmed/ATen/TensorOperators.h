// Before torch's own, which needs the operator, but would have all of them.
#pragma once

// clang-format off
#include <ATen/ops/empty_like.h>
#include_next <ATen/TensorOperators.h>
// clang-format on
