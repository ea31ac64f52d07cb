// Widens a tolerance by the error of a reference's own arithmetic.
#include "judge/reference_error.hpp"

#include <algorithm>

namespace hone {
namespace {

// How many times the reference's own error an answer's may be. An honest kernel adds in another order, and hardware
// that cuts operands off has twice the error of what rounds them (2.2e-4 and 1.1e-4 for convolutions in TF32); operands
// in bfloat16 have eight times the error of those in TF32 (1.5e-3), and are to stay outside.
constexpr double kOwnNorm = 4, kOwnElement = 8;
// The simulated precision cuts operands off already.
constexpr double kAllowedNorm = 2, kAllowedElement = 4;
// Beyond this an error is as large as the answer: single elements say nothing (they may flip at a threshold), and the
// norm keeps zeros (0.35 and more over KernelBench's problems) outside.
constexpr double kElementMost = 0.5, kNormMost = 0.1;
constexpr double kAnyElement = 1e30;
constexpr double kShare = 4;

double element_limit(double least, double own, double allowed) {
  if (std::max(own, allowed) > kElementMost) return kAnyElement;
  return std::min(std::max({least, kOwnElement * own, kAllowedElement * allowed}), kElementMost);
}

double norm_limit(double least, double own, double allowed) {
  return std::min(std::max({least, kOwnNorm * own, kAllowedNorm * allowed}), kNormMost);
}

OutputError larger(const OutputError& x, const OutputError& y) {
  return {std::max(x.element, y.element), std::max(x.norm, y.norm),
          std::max(x.wide_element, y.wide_element), std::max(x.wide_norm, y.wide_norm),
          std::max(x.share, y.share)};
}

}  // namespace

ReferenceError larger(const ReferenceError& x, const ReferenceError& y) {
  ReferenceError both = x;
  both.in_double = x.in_double && y.in_double;
  both.memory_bytes = std::max(x.memory_bytes, y.memory_bytes);
  if (!both.structure) both.structure = y.structure;
  for (std::size_t i = 0; i < std::min(x.outputs.size(), y.outputs.size()); ++i) {
    const ReferenceError::Output& other = y.outputs[i];
    ReferenceError::Output& most = both.outputs[i];
    most.own = larger(most.own, other.own);
    if (most.allowed && other.allowed) {
      most.allowed = larger(*most.allowed, *other.allowed);
    } else if (other.allowed) {
      most.allowed = other.allowed;
    }
  }
  return both;
}

OutputTolerance widened(const Tolerance& least, const ReferenceError::Output& error) {
  const OutputError own = error.own, allowed = error.allowed.value_or(OutputError{});
  OutputTolerance made{least, least, kShare * std::max(own.share, allowed.share)};
  made.usual.rtol = made.usual.rms = element_limit(least.rtol, own.element, allowed.element);
  made.usual.norm = norm_limit(least.norm, own.norm, allowed.norm);
  made.wide.rtol = made.wide.rms =
      element_limit(least.rtol, own.wide_element, allowed.wide_element);
  made.wide.norm = norm_limit(least.norm, own.wide_norm, allowed.wide_norm);
  return made;
}

std::vector<OutputTolerance> tolerances_of(const Task& task,
                                           const std::optional<ReferenceError>& error) {
  std::vector<OutputTolerance> all;
  std::size_t output = 0;
  for (const Tensor& tensor : task.tensors) {
    Tolerance least = task.tolerance;
    if (least.from_reference) least.atol = std::max(least.atol, smallest_of(tensor.dtype));
    const bool known = tensor.role == Role::kOut && error && output < error->outputs.size();
    all.push_back(least.from_reference && known ? widened(least, error->outputs[output])
                                                : same_for_all(least));
    if (tensor.role == Role::kOut) ++output;
  }
  return all;
}

std::int64_t memory_granted_mb(const Task& task, const std::optional<ReferenceError>& error) {
  // An interpreter of kernels copies each block that it loads, and a module may keep a copy of each tensor in another
  // layout and another of all that it computes on the way.
  constexpr std::uint64_t kTimesReference = 3, kTimesTensors = 3;
  if (!error) return task.memory_mb;
  std::uint64_t bytes = kTimesReference * error->memory_bytes;
  for (const Tensor& tensor : task.tensors) {
    const auto count = element_count(tensor, task.timed);
    if (count)
      bytes += kTimesTensors * static_cast<std::uint64_t>(*count) * dtype_size(tensor.dtype);
  }
  return task.memory_mb + static_cast<std::int64_t>(bytes >> 20);
}

bool is_within(const OutputError& error, const OutputTolerance& tolerance) {
  if (error.share > tolerance.share) return false;
  const bool wide = error.wide_norm > 0 || error.wide_element > 0;
  const Tolerance& t = wide ? tolerance.wide : tolerance.usual;
  return (wide ? error.wide_element : error.element) <= t.rtol &&
         (wide ? error.wide_norm : error.norm) <= t.norm;
}

}  // namespace hone
