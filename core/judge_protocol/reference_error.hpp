// The rounding error of a reference, as its own process finds it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.hpp"
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
  /// Level of structure of varied inputs (module_structure.py); nullopt before the first of them. Finding it takes several calls.
  std::optional<int> structure = std::nullopt;
};

/// [element, norm, wide element, wide norm, share], as module_reference.py writes it.
Result<OutputError> output_error_from_value(const Value& value);
/// As module_reference.py writes it.
Result<ReferenceError> reference_error_from_json(std::string_view text);
Value reference_error_to_value(const ReferenceError& error);
Result<ReferenceError> reference_error_from_value(const Value& value);

}  // namespace hone
