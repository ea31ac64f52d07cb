// Compares an output with the exact answer under the task's tolerance.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "model/task.hpp"
#include "model/verdict.hpp"

namespace hone {

/// What one output is held to.
struct OutputTolerance {
  Tolerance usual;
  /// Of a tensor of several magnitudes (small_scale()), where `rms` and `norm` are over the scale of its small
  /// elements, not the root mean square. The same as `usual` unless the tolerance is from the reference.
  Tolerance wide;
  double share = 0;  ///< of the elements that may be outside
};

/// The same tolerance for every tensor.
OutputTolerance same_for_all(const Tolerance& tolerance);

/// `got` has the tensor's dtype; `expected` is double for float tensors and the tensor's dtype
/// otherwise. `row` is the extent of the last axis. The result holds the worst element and the
/// counts, without tensor, shape and family; nothing when the tensor is within the tolerance. A NaN or
/// infinity equals the same only; an expected value beyond the dtype's range is infinite.
std::optional<Mismatch> compare_output(const void* got, const void* expected, DType dtype,
                                       std::uint64_t count, std::uint64_t row,
                                       const OutputTolerance& tolerance);
std::optional<Mismatch> compare_output(const void* got, const void* expected, DType dtype,
                                       std::uint64_t count, std::uint64_t row,
                                       const Tolerance& tolerance);

/// Element `i` of a tensor.
double element_at(const void* tensor, DType dtype, std::uint64_t i);

/// The largest |got − expected| as a share of what the tolerance allows there; infinite when
/// something is not finite that should be. Integers: 0 when equal, else infinite.
double error_share(const void* got, const void* expected, DType dtype, std::uint64_t count,
                   std::uint64_t row, const Tolerance& tolerance);

/// The largest finite number of a float dtype, and the smallest one that is not rounded to zero by hardware that
/// flushes small numbers.
double largest_of(DType dtype);
double smallest_of(DType dtype);

/// Number of sampled elements that decide whether a tensor has several magnitudes. `i` is below min(count, kSample).
inline constexpr std::uint64_t kSample = 1 << 14;
std::uint64_t sampled_place(std::uint64_t i, std::uint64_t count);
/// The scale of a tensor's small elements: eight times the size that a fiftieth of the sampled elements do not reach
/// (those that are 0 in this dtype left out). 0 where that size is at least 1e-5 of the root mean square: the tensor
/// has one magnitude. Rationale: a mask of −1e9 or a product of thousands of numbers makes a root mean square that says
/// nothing about the other elements.
double small_scale(std::vector<double> sample, double rms, DType dtype);

/// The tolerance that a tensor with these exact values is held to, and what its errors are relative to besides each
/// element.
struct Held {
  const Tolerance* tolerance;
  double scale;
};
Held held_to(const OutputTolerance& tolerance, double rms, double small);

/// Whether the tolerance allows `outside` of `count` elements to be outside.
bool may_be_outside(const OutputTolerance& tolerance, std::int64_t outside, std::uint64_t count);

}  // namespace hone
