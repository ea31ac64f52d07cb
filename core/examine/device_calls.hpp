// The calls that hone-player makes on a device for a tool: a plan's launches, with buffers and inputs for a shape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "examine/sanitizer.hpp"
#include "model/plan.hpp"
#include "model/task.hpp"
#include "model/value.hpp"

namespace hone {

/// A tensor or a scratch buffer of a call.
struct CallBuffer {
  std::string name;  ///< "tensor 'x'", "scratch buffer 'sum'"
  std::uint64_t bytes = 0;
};

/// The calls of a plan, each with buffers of its own that have exactly the size of their tensors.
struct DeviceCalls {
  /// {"kernels": [{"name": str, "kinds": [int]}], "calls": [{"buffers": [{"bytes": int, "data": bin}],
  /// "launches": [{"kernel": int, "grid": [int], "block": [int], "cluster": [int], "shared_bytes": int, "flags": int,
  /// "arguments": [{"buffer": int} or {"value": int}]}]}]}. A buffer without data is an output or scratch memory. Data that is
  /// shorter than its buffer repeats. A buffer with "restore": true gets its data again before the call is repeated.
  Value request;
  std::vector<std::string> calls;                ///< "rows=4, cols=8, inputs 'ties'"
  std::vector<std::vector<CallBuffer>> buffers;  ///< of each call
  std::size_t left_out = 0;                      ///< calls that did not fit in the limit
};

/// Makes the calls of sanitizer_calls() with the inputs of sanitizer_input(). invalid_argument: the device cannot start
/// a launch of the plan.
Result<DeviceCalls> sanitizer_device_calls(const Task& task, const Plan& plan,
                                           const PlanLimits& limits, const FillTensor& fill,
                                           std::size_t bytes_max);

/// One call with the timed shape and the first family of inputs that the reference does not make. The random values of large
/// inputs repeat. `data_max`: bytes of the inputs before repetition. failed_precondition: the reference makes all inputs,
/// or the inputs are too large. invalid_argument: as above.
Result<DeviceCalls> timed_device_call(const Task& task, const Plan& plan, const PlanLimits& limits,
                                      const FillTensor& fill, std::size_t data_max);

}  // namespace hone
