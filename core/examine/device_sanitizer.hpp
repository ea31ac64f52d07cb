// Runs of device code under a device's sanitizer: the findings in the reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "examine/device_calls.hpp"
#include "examine/sanitizer.hpp"

namespace hone {

/// Lines that hone-player writes while it makes the calls: "hone-call CALL", "hone-buffer NUMBER ADDRESS" (hexadecimal)
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
                                                        const DeviceCalls& program,
                                                        std::string_view source_name,
                                                        std::size_t count_max);

}  // namespace hone
