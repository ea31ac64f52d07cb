// Starting a judge: its process, its device, and hone's own device code for it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "evaluate/build_pool.hpp"
#include "evaluate/judge_client.hpp"
#include "evaluate/options.hpp"
#include "model/task.hpp"
#include "model/value.hpp"
#include "sandbox/launcher.hpp"

namespace hone {

/// Returns the facts of the device. After an error the judge has been stopped.
Result<Value> start_judge(JudgeClient& judge, Launcher& launcher, BuildPool& builds,
                          const EvaluatorOptions& options, const DeviceSpec& spec);

/// The artifact of the judge's own device code (core/judge/harness/harness.cu).
Result<std::string> built_harness(BuildPool& builds, const EvaluatorOptions& options);

/// Checks the facts of an evaluator's devices. failed_precondition: names or drivers differ, but verdicts have one fingerprint;
/// or modules run on several devices, and the "other_nodes" of one are unknown, so that a module could use other devices.
Status expect_like_devices(const std::vector<Value>& facts, const EvaluatorOptions& options);
/// The fact "other_nodes" (backend.h); nothing if it is not known.
std::optional<std::vector<std::string>> other_nodes_of(const Value& facts);

/// The device's name and its driver's version.
std::string device_name(const Value& facts);
/// Bytes that the device can load and store in a second for this task, caches included.
double bytes_per_second_max(const Value& facts, const Task& task, const EvaluatorOptions& options);

/// "4,5".
std::string cores_text(const std::vector<int>& cores);

}  // namespace hone
