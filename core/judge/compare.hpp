// Compares an output with the exact answer under the task's tolerance.
#pragma once

#include <cstdint>
#include <optional>

#include "model/task.hpp"
#include "model/verdict.hpp"

namespace hone {

/// `got` has the tensor's dtype; `expected` is double for float tensors and the tensor's dtype
/// otherwise. `row` is the extent of the last axis. The result holds the worst element and the
/// counts, without tensor, shape and family; nothing when every element is within the tolerance. A
/// NaN or infinity equals the same only.
std::optional<Mismatch> compare_output(const void* got, const void* expected, DType dtype,
                                       std::uint64_t count, std::uint64_t row,
                                       const Tolerance& tolerance);

/// Element `i` of a tensor.
double element_at(const void* tensor, DType dtype, std::uint64_t i);

/// The largest |got − expected| as a share of what the tolerance allows there; infinite when
/// something is not finite that should be. Integers: 0 when equal, else infinite.
double error_share(const void* got, const void* expected, DType dtype, std::uint64_t count,
                   std::uint64_t row, const Tolerance& tolerance);

}  // namespace hone
