// Builds and facts of tools.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "evaluate/build_pool.hpp"
#include "evaluate/device_counting.hpp"
#include "evaluate/device_sanitizing.hpp"
#include "evaluate/mode.hpp"
#include "evaluate/options.hpp"
#include "evaluate/sources.hpp"
#include "examine/profile.hpp"
#include "model/examination.hpp"
#include "model/task.hpp"
#include "sandbox/probe.hpp"

namespace hone {

/// Whether the tool needs a device and a judge, after a build.
constexpr bool is_judged(Tool tool) { return tool == Tool::kCheck || tool == Tool::kProfile; }
/// Whether the tool runs a submission on a device under the device's sanitizer, after a build.
inline bool sanitizes_on_device(Tool tool, const EvaluatorOptions& options) {
  return tool == Tool::kSanitize && options.device_code;
}

/// Adds to the build of a submission what the tool needs. failed_precondition: the tool cannot examine this submission here; the message
/// says why.
Status prepare_build(Tool tool, const Task& task, const EvaluatorOptions& options,
                     IsolationLevel isolation, const std::string& language, PlannedSource& source);

/// Requests the compiler's report on the code, which a profile reads, if the compiler can write one.
void add_code_report(const EvaluatorOptions& options, const std::string& language,
                     BuildRequest& build);

/// The facts of a tool that is not judged.
Value facts_of_build(Tool tool, const BuildRequest& request, const Built& built);

/// The calls of a submission under the device's sanitizer. `device`: the device's facts. An error is the reason for which
/// the tool cannot examine this submission.
Result<DeviceCalls> sanitizing_calls(const Task& task, const Plan& plan, const Value& device);
/// The facts of `sanitize` on a device: as on a processor, and "runs", the names of the sanitizer's runs. The only member is
/// "unavailable" if the sanitizer cannot be run on this device.
Value facts_of_sanitizing(const DeviceCalls& program, const SanitizerReply& reply,
                          const std::string& source_name);

/// Whether a profile of a submission in this mode may have hardware counters.
bool may_count(const EvaluatorOptions& options, Mode mode);
/// Whether a profile of this judged submission has hardware counters, if they can be read: native device code that is correct.
bool counts_launches(const EvaluatorOptions& options, Mode mode, const Verdict& verdict);
/// The call for which a profile reads hardware counters. `device`: the device's facts. An error is the reason for which it
/// reads none.
Result<DeviceCalls> counting_call(const Task& task, const Plan& plan, const Value& device,
                                  const EvaluatorOptions& options);

/// The facts of a profile. Empty unless the submission is correct and timed. `device`: the device's facts.
Value facts_of_profile(const Task& task, const EvaluatorOptions& options,
                       const std::string& language, const Built& built, const Plan& plan,
                       const Verdict& verdict, const Value& device,
                       const ProfileCounters& counters);

/// The findings in the facts of a profile, the most important first; empty if there are none.
std::vector<std::string> findings_in(const Value& facts);

/// The device's facts. A processor's also have its clock rate, vector width, and its rates of memory and arithmetic. The first call measures
/// them on the core of `device`. The evaluator makes it in that device's thread before the first job, so the device times nothing
/// at the same time.
Value facts_with_speed(Value facts, const EvaluatorOptions& options, std::size_t device);

/// The facts of the tool `hardware`.
Value facts_of_hardware(const EvaluatorOptions& options, const Value& device,
                        const std::string& fingerprint);

}  // namespace hone
