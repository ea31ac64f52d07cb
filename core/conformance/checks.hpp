// The conformance checks. They call functions of a loaded plugin, which may crash the process.
#pragma once

#include <array>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "conformance/check_process.hpp"
#include "model/value.hpp"
#include "plugin/dataset.hpp"
#include "plugin/host_services.hpp"
#include "plugin/plugin_library.hpp"
#include "plugin/reward.hpp"

namespace hone {

/// The input of a check.
struct CheckSubject {
  std::filesystem::path path;
  Value config;      ///< a map
  HostOptions host;  ///< the services that a real host provides
};

/// A check returns an error if the plugin breaks the ABI's rules, and a result if there is more to say than
/// passed or failed.
struct Check {
  std::string_view id;
  std::string_view title;
  Result<CheckResult> (*run)(const CheckSubject& subject);
};

/// Checks of any plugin. The first one loads it; the last one lists its factories.
const std::vector<Check>& entry_checks();
const std::vector<Check>& reward_checks();
const std::vector<Check>& dataset_checks();
const std::vector<Check>& backend_checks();

// Shared by the checks of several kinds.

inline CheckResult passed(std::string message = {}) {
  return {CheckOutcome::kPassed, std::move(message)};
}
inline CheckResult skipped(std::string message) {
  return {CheckOutcome::kSkipped, std::move(message)};
}

/// Checks that describe() returns the same twice, with the members that rewards and datasets have in common.
Result<Value> check_description(const Result<Value>& first, const Result<Value>& second);
/// The parameters without a default, which a configuration must set: "path, split"; empty: none.
std::string missing_parameters(const Value& description, const Value& config);
/// A misspelt parameter name, which is not a parameter itself.
std::string misspelt_parameter(const Value& description);
/// Checks that the code is invalid_argument and that the message contains these words.
Status expect_refusal(const Status& status, std::string_view what, const std::string& words);

/// The range of a turn's reward, [low, high]; nil means unbounded.
Result<std::array<double, 2>> declared_range(const Value& described);
/// Checks that every sample is scored within the range.
Result<CheckResult> check_scores(const Reward& reward, const std::array<double, 2>& range);
Result<CheckResult> check_later_outcome(const Reward& reward);

/// Checks that two handles of one dataset return the same list, each of them twice.
Result<CheckResult> check_list(const Dataset& first, const Dataset& second);
/// Checks that every listed task is valid, the same twice, and in its listed split.
Result<CheckResult> check_get(const Dataset& dataset);
Result<CheckResult> check_unknown_id(const Dataset& dataset);

/// Bytes that are not a valid configuration: broken MessagePack, no bytes, a truncated map, and a value that
/// is not a map.
std::vector<std::string> garbage_configs();

}  // namespace hone
