// Checks of a hosted plugin, in order.
#include "conformance/hosted_checks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <thread>
#include <utility>

#include "conformance/checks.hpp"
#include "conformance/episode_samples.hpp"
#include "hone/dataset.h"
#include "hone/reward.h"

namespace hone {
namespace {

using Plugin = std::shared_ptr<const HostedPlugin>;
using Answers = std::vector<Value>;

/// The plugin under test.
struct Subject {
  const Plugin& plugin;
  const Value& config;
  std::string kind;  ///< "reward" or "dataset"
  Value described;

  Status make(const Value& with) const {
    if (kind == "reward") {
      HONE_TRY(plugin->create_reward(with));
    } else {
      HONE_TRY(plugin->open_dataset(with));
    }
    return {};
  }
};

using RunCheck = Result<CheckResult> (*)(const Subject&);
struct HostedCheck {
  std::string_view id, title;
  RunCheck run;
  bool needs_config = true;
};

Result<CheckResult> unknown_key(const Subject& subject) {
  const std::string key = misspelt_parameter(subject.described);
  Value config = subject.config;
  config.set(key, 1);
  HONE_TRY(expect_refusal(subject.make(config), "a key '" + key + "'", key));
  return passed();
}

Result<CheckResult> wrong_type(const Subject& subject) {
  const Value::Map& parameters = subject.described.find("parameters")->as_map();
  for (const auto& [name, parameter] : parameters) {
    Value config = subject.config;
    config.set(name, Value::array({1, "two"}));
    HONE_TRY(expect_refusal(subject.make(config), "a list for '" + name + "'", name));
  }
  return parameters.empty() ? skipped("has no parameters") : passed();
}

Result<CheckResult> create(const Subject& subject) {
  HONE_TRY(subject.make(subject.config));
  return passed();
}

Result<CheckResult> score(const Subject& subject) {
  HONE_ASSIGN(auto range, declared_range(subject.described));
  // The declared range is that of the default configuration.
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (!subject.config.as_map().empty()) range = {-kInfinity, kInfinity};
  HONE_ASSIGN(auto calls, subject.plugin->create_reward(subject.config));
  return check_scores(Reward(subject.plugin->name(), subject.config, std::move(calls)), range);
}

Result<CheckResult> later_outcome(const Subject& subject) {
  HONE_ASSIGN(auto calls, subject.plugin->create_reward(subject.config));
  return check_later_outcome(Reward(subject.plugin->name(), subject.config, std::move(calls)));
}

Result<Answers> answers(const RewardCalls& calls) {
  Answers list;
  for (const Value& episode : episode_samples()) {
    HONE_ASSIGN(Value answer, calls.score(episode));
    list.push_back(std::move(answer));
  }
  return list;
}

Status expect_same(const Answers& expected, const Answers& found, const char* where) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] == found[i]) continue;
    return internal_error("sample " + std::to_string(i) +
                          ": expected the same answer, found another " + where);
  }
  return {};
}

Result<CheckResult> pure(const Subject& subject) {
  HONE_ASSIGN(const auto one, subject.plugin->create_reward(subject.config));
  HONE_ASSIGN(const auto two, subject.plugin->create_reward(subject.config));
  HONE_ASSIGN(const Answers first, answers(*one));
  HONE_ASSIGN(const Answers again, answers(*one));
  HONE_ASSIGN(const Answers other, answers(*two));
  HONE_TRY(expect_same(first, again, "the second time"));
  HONE_TRY(expect_same(first, other, "from a second object"));
  subject.plugin->restart();
  HONE_ASSIGN(const Answers later, answers(*one));
  HONE_TRY(expect_same(first, later, "from a second process"));
  return passed();
}

Result<CheckResult> threads(const Subject& subject) {
  HONE_ASSIGN(const auto calls, subject.plugin->create_reward(subject.config));
  HONE_ASSIGN(const Answers expected, answers(*calls));
  std::array<Status, 2> ended;
  const auto ask = [&](Status& status) {
    const auto found = answers(*calls);
    status = found ? expect_same(expected, *found, "with two threads") : Status(found.error());
  };
  std::thread one(ask, std::ref(ended[0])), two(ask, std::ref(ended[1]));
  one.join();
  two.join();
  for (const Status& status : ended) HONE_TRY(status);
  return passed();
}

Result<std::unique_ptr<Dataset>> open(const Subject& subject) {
  HONE_ASSIGN(auto calls, subject.plugin->open_dataset(subject.config));
  return std::make_unique<Dataset>("validated", subject.plugin->name(), std::move(calls));
}

Result<CheckResult> list(const Subject& subject) {
  HONE_ASSIGN(const auto first, open(subject));
  HONE_ASSIGN(const auto second, open(subject));
  return check_list(*first, *second);
}

Result<CheckResult> get(const Subject& subject) {
  HONE_ASSIGN(const auto dataset, open(subject));
  return check_get(*dataset);
}

Result<CheckResult> unknown_id(const Subject& subject) {
  HONE_ASSIGN(const auto dataset, open(subject));
  return check_unknown_id(*dataset);
}

Result<CheckResult> opens(const Subject& subject) {
  HONE_TRY(subject.plugin->open_environment());
  subject.plugin->restart();
  HONE_TRY(subject.plugin->open_environment());
  return passed();
}

const std::vector<HostedCheck>& checks_of(const std::string& kind) {
  static const std::vector<HostedCheck> reward{
      {"reward.create", "can be created with its defaults", create},
      {"reward.unknown_key", "refuses an unknown key", unknown_key, false},
      {"reward.wrong_type", "refuses a parameter of the wrong type", wrong_type, false},
      {"reward.score", "scores episodes of every outcome within its range", score},
      {"reward.later_outcome", "scores unknown outcomes", later_outcome},
      {"reward.pure", "gives the same answer for the same episode, in another process too", pure},
      {"reward.threads", "gives the same answers to two threads at once", threads},
  };
  static const std::vector<HostedCheck> dataset{
      {"dataset.unknown_key", "refuses an unknown key", unknown_key, false},
      {"dataset.list", "lists its tasks in a fixed order", list},
      {"dataset.get", "returns each task, and all are valid", get},
      {"dataset.unknown_id", "answers an unknown id with not_found", unknown_id},
  };
  static const std::vector<HostedCheck> environment{
      {"environment.opens", "can be created, and created again in a new process", opens}};
  return kind == "reward" ? reward : kind == "dataset" ? dataset : environment;
}

/// A failure as a result. Its severity depends on whether the plugin host is still alive.
CheckResult result_of(const Error& error, bool alive) {
  if (error.code == Code::kDeadlineExceeded) return {CheckOutcome::kTimedOut, error.message};
  return {alive ? CheckOutcome::kFailed : CheckOutcome::kCrashed, error.message};
}

void run_checks(const Plugin& plugin, const std::string& kind, const Value& config,
                ValidationReport& report) {
  const std::string id(kind == "reward"    ? HONE_REWARD_FACTORY_ID
                       : kind == "dataset" ? HONE_DATASET_FACTORY_ID
                                           : kEnvironmentFactoryId);
  const auto described = check_description(plugin->describe(id), plugin->describe(id));
  Result<CheckResult> outcome = passed();
  if (!described) outcome = described.error();
  if (described && kind == "reward") {
    if (const auto range = declared_range(*described); !range) outcome = range.error();
  }
  report.checks.push_back({kind + ".describe",
                           "describes itself, with correct types and repeatably",
                           outcome ? *outcome : result_of(outcome.error(), plugin->pid() > 0)});
  if (!outcome) return;
  const Subject subject{plugin, config, kind, *described};
  const std::string missing = missing_parameters(*described, config);
  for (const HostedCheck& check : checks_of(kind)) {
    CheckResult result = skipped("needs a configuration with: " + missing);
    if (missing.empty() || !check.needs_config) {
      const auto ran = check.run(subject);
      result = ran ? *ran : result_of(ran.error(), plugin->pid() > 0);
    }
    report.checks.push_back({std::string(check.id), std::string(check.title), std::move(result)});
  }
}

}  // namespace

Result<ValidationReport> validate_python(const std::filesystem::path& path,
                                         PluginHostOptions options, const Value& config) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    return not_found("no such file: " + path.string());
  }
  ValidationReport report;
  const auto started =
      HostedPlugin::start(path, std::move(options), std::make_shared<HostStarter>());
  const CheckResult loads =
      started ? passed((*started)->runs_in()) : result_of(started.error(), true);
  report.checks.push_back({"loads", "loads and says who it is", loads});
  if (!started) return report;
  const Plugin& plugin = *started;
  report.name = plugin->name();
  report.version = plugin->version();
  for (const std::string& id : plugin->factories()) {
    run_checks(plugin,
               id == HONE_REWARD_FACTORY_ID    ? "reward"
               : id == HONE_DATASET_FACTORY_ID ? "dataset"
                                               : "environment",
               config, report);
  }
  return report;
}

}  // namespace hone
