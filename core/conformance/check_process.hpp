// Runs one conformance check in its own process, with a time limit.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace hone {

enum class CheckOutcome { kPassed, kWarning, kSkipped, kFailed, kCrashed, kTimedOut };
std::string_view check_outcome_name(CheckOutcome outcome);  ///< "passed", …

struct CheckResult {
  CheckOutcome outcome = CheckOutcome::kPassed;
  std::string message;  ///< empty if it passed without a remark
};

/// Input of a check's process besides its arguments.
struct CheckProcessOptions {
  double timeout_s = 10;
  std::string config_json;  ///< configuration for create() and open(), instead of an empty map
};

/// Runs `program arguments…` without output and waits for its report. An error is a fault of the machine. A
/// process that ends by a signal is kCrashed, one over its time limit is killed and kTimedOut, and one that
/// ends without a report is kFailed.
Result<CheckResult> run_check_process(const std::filesystem::path& program,
                                      const std::vector<std::string>& arguments,
                                      const CheckProcessOptions& options);

/// In the child process: sends the result to the parent, or prints it if there is no parent.
void report_check(const CheckResult& result);
/// In the child process: the plugin's configuration; empty: none.
std::string check_config_json();

}  // namespace hone
