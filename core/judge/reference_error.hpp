// The tolerance that follows from a reference's own error (docs/adr/0021-tolerance-from-the-reference.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "judge/compare.hpp"
#include "model/task.hpp"
#include "model/value.hpp"

namespace hone {

/// How far one output is from the exact one. Errors are |got − exact| / (|exact| + scale).
struct OutputError {
  double element = 0, norm = 0;  ///< the largest and the root mean square; scale: RMS(exact)
  double wide_element = 0,
         wide_norm = 0;  ///< scale: small_scale(); 0 where the tensor has one magnitude
  double share = 0;  ///< of elements that are finite in one of both alone; of integers, that differ
};

/// What a reference says of itself.
struct ReferenceError {
  struct Output {
    OutputError own;  ///< of the reference's answers in the precision that it is timed in
    std::optional<OutputError> allowed;  ///< with operands of the precision that the task allows
  };
  std::vector<Output> outputs;  ///< in the order of the task's output tensors
  bool in_double =
      true;  ///< exact answers are computed in double, not in the reference's own types
  std::uint64_t memory_bytes =
      0;  ///< that a call of the reference needs beyond its inputs and parameters
};

/// [element, norm, wide element, wide norm, share], as module_reference.py writes it.
Result<OutputError> output_error_from_value(const Value& value);
/// As module_reference.py writes it.
Result<ReferenceError> reference_error_from_json(std::string_view text);
Value reference_error_to_value(const ReferenceError& error);
Result<ReferenceError> reference_error_from_value(const Value& value);
/// The larger of both, number by number.
ReferenceError larger(const ReferenceError& x, const ReferenceError& y);

/// One output's: `least` widened so that the reference, and answers of the precision that it allows, are well inside.
OutputTolerance widened(const Tolerance& least, const ReferenceError::Output& error);
/// Of each of the task's tensors; those of inputs are not used. Without an error, or where the task's tolerance is its
/// own, the task's.
std::vector<OutputTolerance> tolerances_of(const Task& task,
                                           const std::optional<ReferenceError>& error);

/// Megabytes that a submission may use on the processor beyond its arena: the task's, and several times what a call of
/// the reference needs and what the task's tensors hold.
std::int64_t memory_granted_mb(const Task& task, const std::optional<ReferenceError>& error);

/// Whether an answer with this error is within the tolerance.
bool is_within(const OutputError& error, const OutputTolerance& tolerance);

}  // namespace hone
