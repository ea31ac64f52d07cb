// Runs of device code under a device's sanitizer: the calls that hone-sanitizer makes, and the findings in the reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "examine/sanitizer.hpp"
#include "model/plan.hpp"
#include "model/task.hpp"
#include "model/value.hpp"

namespace hone {

/// A tensor or a scratch buffer of a call.
struct SanitizedBuffer {
  std::string name;  ///< "tensor 'x'", "scratch buffer 'sum'"
  std::uint64_t bytes = 0;
};

/// The calls of a plan, each with buffers of its own that have exactly the size of their tensors.
struct DeviceSanitizerProgram {
  /// {"kernels": [{"name": str, "kinds": [int]}], "calls": [{"buffers": [{"bytes": int, "data": bin}],
  /// "launches": [{"kernel": int, "grid": [int], "block": [int], "cluster": [int], "shared_bytes": int, "flags": int,
  /// "arguments": [{"buffer": int} or {"value": int}]}]}]}. A buffer without data is an output or scratch memory.
  Value request;
  std::vector<std::string> calls;                     ///< "rows=4, cols=8, inputs 'ties'"
  std::vector<std::vector<SanitizedBuffer>> buffers;  ///< of each call
  std::size_t left_out = 0;                           ///< calls that did not fit in the limit
};

/// Makes the calls of sanitizer_calls() with the inputs of sanitizer_input(). invalid_argument: the device cannot start
/// a launch of the plan.
Result<DeviceSanitizerProgram> device_sanitizer_program(const Task& task, const Plan& plan,
                                                        const PlanLimits& limits,
                                                        const FillTensor& fill,
                                                        std::size_t bytes_max);

/// Lines that hone-sanitizer writes while it makes the calls: "hone-call CALL", "hone-buffer NUMBER ADDRESS" (hexadecimal)
/// after it, "hone-error MESSAGE" for a call that failed, and kSanitizerEnd.
struct DeviceSanitizerRun {
  std::string name;    ///< of the run: "memcheck"
  std::string report;  ///< of the sanitizer
  std::string events;  ///< the lines
};

/// Whether the sanitizer wrote its report to the end.
bool is_complete_report(std::string_view report);

/// The reason for which the sanitizer cannot examine any kernel on this device; empty: there is none.
std::string device_sanitizer_problem(const DeviceSanitizerRun& run);

/// The message of the line "hone-error"; empty if there is none.
std::string device_sanitizer_error(const DeviceSanitizerRun& run);

/// The findings in the reports, at most `count_max`. The same kind at the same line counts once.
///
/// Rationale: a report has names that the submission chooses, for functions and files. Findings have only numbers,
/// words of hone, and names of the task's tensors and the plan's scratch buffers. A kind of error that hone does not
/// know has at most 40 letters.
std::vector<SanitizerFinding> device_sanitizer_findings(const std::vector<DeviceSanitizerRun>& runs,
                                                        const DeviceSanitizerProgram& program,
                                                        std::string_view source_name,
                                                        std::size_t count_max);

}  // namespace hone
