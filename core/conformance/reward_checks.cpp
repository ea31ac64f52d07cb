// Checks of rewards: description, refused configurations, and that a score is a pure function of its input.
#include <array>
#include <cmath>
#include <optional>
#include <thread>

#include "conformance/checks.hpp"
#include "conformance/episode_samples.hpp"
#include "plugin/call.hpp"
#include "plugin/reward.hpp"

namespace hone {
namespace {

/// A loaded reward plugin without a handle.
struct Loaded {
  PluginLibrary library;
  const hone_reward_factory* table;
  std::shared_ptr<HostServices> host;

  /// Calls create() with exactly these bytes, and destroys the handle.
  Status create(std::string_view config) const {
    hone_reward* handle = nullptr;
    HONE_TRY(call_plugin("create", [&](hone_error* error) {
      return table->create(host->table(), borrow(config), &handle, error);
    }));
    table->destroy(handle);
    return {};
  }
};

Result<Loaded> load(const CheckSubject& subject) {
  HONE_ASSIGN(PluginLibrary library, PluginLibrary::load(subject.path));
  HONE_ASSIGN(const hone_reward_factory* table, reward_factory(library));
  auto host = std::make_shared<HostServices>(library.name(), subject.host);
  return Loaded{std::move(library), table, std::move(host)};
}

/// A handle with the given configuration, for calls with exact bytes.
class Handle {
 public:
  static Result<std::unique_ptr<Handle>> create(const CheckSubject& subject) {
    HONE_ASSIGN(Loaded loaded, load(subject));
    std::unique_ptr<Handle> handle(new Handle(std::move(loaded)));
    const std::string config = to_msgpack(subject.config);
    HONE_TRY(call_plugin("create", [&](hone_error* error) {
      return handle->loaded_.table->create(handle->loaded_.host->table(), borrow(config),
                                           &handle->reward_, error);
    }));
    return handle;
  }
  ~Handle() { loaded_.table->destroy(reward_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  Result<std::string> score(std::string_view episode) const {
    return call_for_bytes("score", [&](hone_sink* out, hone_error* error) {
      return loaded_.table->score(reward_, borrow(episode), out, error);
    });
  }

 private:
  explicit Handle(Loaded loaded) : loaded_(std::move(loaded)) {}

  Loaded loaded_;
  hone_reward* reward_ = nullptr;
};

Result<Value> description(const PluginLibrary& library) {
  return check_description(Reward::describe(library), Reward::describe(library));
}

Result<CheckResult> describe(const CheckSubject& subject) {
  HONE_ASSIGN(const Loaded loaded, load(subject));
  HONE_ASSIGN(const Value described, description(loaded.library));
  if (const Value* source = described.find("source"); source == nullptr || !source->is_string()) {
    return internal_error("describe: source: expected a string");
  }
  HONE_TRY(declared_range(described));
  return passed();
}

Result<CheckResult> create(const CheckSubject& subject) {
  HONE_ASSIGN(const Loaded loaded, load(subject));
  HONE_ASSIGN(const Value described, description(loaded.library));
  if (const std::string names = missing_parameters(described, subject.config); !names.empty()) {
    return skipped("needs a configuration with: " + names);
  }
  HONE_TRY(loaded.create(to_msgpack(subject.config)));
  return passed();
}

Result<CheckResult> unknown_key(const CheckSubject& subject) {
  HONE_ASSIGN(const Loaded loaded, load(subject));
  HONE_ASSIGN(const Value described, description(loaded.library));
  const std::string key = misspelt_parameter(described);
  Value config = subject.config;
  config.set(key, 1);
  HONE_TRY(expect_refusal(loaded.create(to_msgpack(config)), "a key '" + key + "'", key));
  return passed();
}

Result<CheckResult> wrong_type(const CheckSubject& subject) {
  HONE_ASSIGN(const Loaded loaded, load(subject));
  HONE_ASSIGN(const Value described, description(loaded.library));
  const Value::Map& parameters = described.find("parameters")->as_map();
  for (const auto& [name, parameter] : parameters) {
    Value config = subject.config;
    config.set(name, Value::array({1, "two"}));
    HONE_TRY(expect_refusal(loaded.create(to_msgpack(config)), "a list for '" + name + "'", name));
  }
  return parameters.empty() ? skipped("has no parameters") : passed();
}

Result<CheckResult> garbage_config(const CheckSubject& subject) {
  HONE_ASSIGN(const Loaded loaded, load(subject));
  for (const std::string& garbage : garbage_configs()) {
    if (loaded.create(garbage).ok()) {
      return internal_error("create: expected an error for garbage: " +
                            std::to_string(garbage.size()) + " bytes were accepted");
    }
  }
  return passed();
}

Status check_rewards(const RewardReport& report, const std::array<double, 2>& range) {
  for (const auto& turn : report.turns) {
    if (turn && (turn->reward < range[0] || turn->reward > range[1])) {
      return internal_error("expected a reward from " + std::to_string(range[0]) + " to " +
                            std::to_string(range[1]) + ", found " + std::to_string(turn->reward));
    }
  }
  return {};
}

Result<CheckResult> score(const CheckSubject& subject) {
  HONE_ASSIGN(const Loaded loaded, load(subject));
  HONE_ASSIGN(const Value described, description(loaded.library));
  HONE_ASSIGN(auto range, declared_range(described));
  // The declared range is that of the default configuration.
  if (!subject.config.as_map().empty()) range = {-INFINITY, INFINITY};
  HONE_ASSIGN(const auto reward, Reward::create(loaded.library, subject.config, loaded.host));
  return check_scores(*reward, range);
}

Result<CheckResult> later_outcome(const CheckSubject& subject) {
  HONE_ASSIGN(const Loaded loaded, load(subject));
  HONE_ASSIGN(const auto reward, Reward::create(loaded.library, subject.config, loaded.host));
  return check_later_outcome(*reward);
}

/// Every sample's bytes with the answer.
Result<std::vector<std::pair<std::string, std::string>>> answers(const Handle& handle) {
  std::vector<std::pair<std::string, std::string>> list;
  for (const Value& episode : episode_samples()) {
    std::string bytes = to_msgpack(episode);
    HONE_ASSIGN(std::string answer, handle.score(bytes));
    list.emplace_back(std::move(bytes), std::move(answer));
  }
  return list;
}

Result<CheckResult> pure(const CheckSubject& subject) {
  HONE_ASSIGN(const auto handle, Handle::create(subject));
  HONE_ASSIGN(const auto first, answers(*handle));
  HONE_ASSIGN(const auto again, answers(*handle));
  HONE_ASSIGN(const auto other, Handle::create(subject));
  HONE_ASSIGN(const auto of_other, answers(*other));
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i].second != again[i].second) {
      return internal_error("sample " + std::to_string(i) +
                            ": expected the same bytes, found others "
                            "the second time");
    }
    if (first[i].second != of_other[i].second) {
      return internal_error("sample " + std::to_string(i) +
                            ": expected the same bytes, found others "
                            "from a second handle");
    }
  }
  return passed();
}

Result<CheckResult> threads(const CheckSubject& subject) {
  constexpr int kRounds = 20;
  HONE_ASSIGN(const auto handle, Handle::create(subject));
  HONE_ASSIGN(const auto expected, answers(*handle));
  std::array<std::size_t, 2> differing{};
  const auto ask = [&](std::size_t& count) {
    for (int round = 0; round < kRounds; ++round) {
      for (const auto& [episode, answer] : expected) {
        const auto found = handle->score(episode);
        if (!found || *found != answer) ++count;
      }
    }
  };
  std::thread one(ask, std::ref(differing[0])), two(ask, std::ref(differing[1]));
  one.join();
  two.join();
  const std::size_t wrong = differing[0] + differing[1];
  if (wrong == 0) return passed();
  return internal_error("two threads: expected the same answers as one thread, found others in " +
                        std::to_string(wrong) + " of " +
                        std::to_string(2 * kRounds * expected.size()) + " calls");
}

Result<CheckResult> garbage_episode(const CheckSubject& subject) {
  HONE_ASSIGN(const auto handle, Handle::create(subject));
  const std::string whole = to_msgpack(episode_samples().front());
  std::vector<std::string> garbage = garbage_configs();
  garbage.push_back(to_msgpack(Value::map()));
  garbage.push_back(to_msgpack(Value::map({{"turns", 3}})));
  garbage.push_back(to_msgpack(Value::map(
      {{"task", Value::map()}, {"ended", false}, {"max_turns", 1}, {"turns", Value::array()}})));
  garbage.push_back(to_msgpack(Value::map({{"task", Value::map()},
                                           {"ended", false},
                                           {"max_turns", 1},
                                           {"turns", Value::array({Value(7)})}})));
  for (std::size_t size = 1; size < whole.size(); ++size) garbage.push_back(whole.substr(0, size));
  for (const std::string& bytes : garbage) {
    if (handle->score(bytes).ok()) {
      return internal_error("score: expected an error for garbage of " +
                            std::to_string(bytes.size()) + " bytes, found an answer");
    }
  }
  return passed();
}

Result<CheckResult> destroy_null(const CheckSubject& subject) {
  HONE_ASSIGN(const Loaded loaded, load(subject));
  loaded.table->destroy(nullptr);
  return passed();
}

}  // namespace

Result<std::array<double, 2>> declared_range(const Value& described) {
  const Value* range = described.find("range");
  if (range == nullptr || !range->is_array() || range->as_array().size() != 2) {
    return internal_error("describe: range: expected [low, high]");
  }
  std::array<double, 2> bounds{-INFINITY, INFINITY};
  for (std::size_t i = 0; i < 2; ++i) {
    const Value& bound = range->as_array()[i];
    if (bound.is_number()) {
      bounds[i] = bound.as_double();
    } else if (!bound.is_nil()) {
      return internal_error("describe: range: expected numbers or nil, found " +
                            std::string(bound.type_name()));
    }
  }
  if (!(bounds[0] <= bounds[1])) return internal_error("describe: range: expected low ≤ high");
  return bounds;
}

Status expect_refusal(const Status& status, std::string_view what, const std::string& words) {
  if (status.ok()) return internal_error(std::string(what) + ": expected an error, found success");
  if (status.error().code != Code::kInvalidArgument) {
    return internal_error(std::string(what) + ": expected invalid_argument, found " +
                          std::string(code_name(status.error().code)));
  }
  if (status.error().message.find(words) == std::string::npos) {
    return internal_error(std::string(what) + ": expected a message with '" + words + "', found '" +
                          status.error().message + "'");
  }
  return {};
}

Result<CheckResult> check_scores(const Reward& reward, const std::array<double, 2>& range) {
  std::size_t index = 0;
  for (const Value& episode : episode_samples()) {
    const std::string where = "sample " + std::to_string(index++);
    const auto report = reward.score(episode);
    if (!report) return report.error().in(where);
    if (const Status checked = check_rewards(*report, range); !checked) {
      return checked.error().in(where);
    }
  }
  return passed(std::to_string(index) + " episodes");
}

Result<CheckResult> check_later_outcome(const Reward& reward) {
  if (const auto report = reward.score(later_outcome_sample()); !report) {
    return report.error().in("an outcome that a later version of hone may add");
  }
  return passed();
}

const std::vector<Check>& reward_checks() {
  static const std::vector<Check> checks{
      {"reward.describe", "describes itself, with correct types and repeatably", describe},
      {"reward.create", "can be created with its defaults", create},
      {"reward.unknown_key", "refuses an unknown key", unknown_key},
      {"reward.wrong_type", "refuses a parameter of the wrong type", wrong_type},
      {"reward.garbage_config", "refuses an invalid configuration", garbage_config},
      {"reward.score", "scores episodes of every outcome within its range", score},
      {"reward.later_outcome", "scores unknown outcomes", later_outcome},
      {"reward.pure", "returns the same bytes for the same input", pure},
      {"reward.threads", "returns the same bytes on two threads", threads},
      {"reward.garbage_episode", "returns an error for an invalid episode", garbage_episode},
      {"reward.destroy_null", "accepts a null handle in destroy", destroy_null},
  };
  return checks;
}

}  // namespace hone
