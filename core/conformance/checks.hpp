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
  HostOptions host;  ///< what plugins get from a real host
};

/// A check returns a failed Status for a broken promise, or its result where that is more than
/// passed or failed.
struct Check {
  std::string_view id;
  std::string_view title;
  Result<CheckResult> (*run)(const CheckSubject& subject);
};

/// Of any plugin; the first loads it, the last says what it offers.
const std::vector<Check>& entry_checks();
const std::vector<Check>& reward_checks();
const std::vector<Check>& dataset_checks();
const std::vector<Check>& backend_checks();

// For the checks of several kinds.

inline CheckResult passed(std::string message = {}) {
  return {CheckOutcome::kPassed, std::move(message)};
}
inline CheckResult skipped(std::string message) {
  return {CheckOutcome::kSkipped, std::move(message)};
}

/// A describe() that writes the same twice and has the members that rewards and datasets share.
Result<Value> check_description(const Result<Value>& first, const Result<Value>& second);
/// The parameters of a description that have no default, which a configuration must give: "path,
/// split"; "" for none.
std::string missing_parameters(const Value& description, const Value& config);
/// A name that is near one of the parameters and none of them.
std::string misspelt_parameter(const Value& description);
/// The code is invalid_argument and the message has these words.
Status expect_refusal(const Status& status, std::string_view what, const std::string& words);

/// The range of a turn's reward, [low, high]; unbounded where nil.
Result<std::array<double, 2>> declared_range(const Value& described);
/// Every sample is scored, within the range.
Result<CheckResult> check_scores(const Reward& reward, const std::array<double, 2>& range);
Result<CheckResult> check_later_outcome(const Reward& reward);

/// Two handles of one dataset list the same, and twice.
Result<CheckResult> check_list(const Dataset& first, const Dataset& second);
/// Every task is one, the same twice, and in the split that is listed.
Result<CheckResult> check_get(const Dataset& dataset);
Result<CheckResult> check_unknown_id(const Dataset& dataset);

/// Bytes that are no configuration: broken MessagePack, none at all, a map cut off, and no map.
std::vector<std::string> garbage_configs();

}  // namespace hone
