// Rewards in C++: the episode as plain structs, returns over its turns, and the C table around a
// class.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/plugin/host.hpp"
#include "hone/plugin/parameters.hpp"
#include "hone/reward.h"

namespace hone::plugin {

/// Baseline time over submission time, with its 95 % confidence interval.
struct Speedup {
  double value = 0, low = 0, high = 0;
  std::vector<std::string> flags;  ///< doubts about the measurement: "noisy", "throttled", …

  bool is_flagged() const { return !flags.empty(); }
  /// The figure to reward: the point estimate, or the interval's lower end of a measurement with a flag.
  /// Rationale: a submission that is sent again and again must not be paid for its luckiest noise.
  double estimate() const { return is_flagged() ? std::min(low, value) : value; }
};

struct Turn {
  std::int64_t number = 0;
  bool scored = false;  ///< false: a fault of the machine; it must not count
  std::string outcome;  ///< "correct", "wrong", or one that a later host adds; empty when unscored
  std::string stage;  ///< how far it came: "response", "build", "load", "check", "measure", "done"
  std::optional<Speedup> speedup;  ///< for a correct submission that was measured
  Value verdict;                   ///< all of it: docs/plugins.md

  bool correct() const { return outcome == "correct"; }
  /// Whether it was built and did not cheat. It may have crashed, or be wrong. False for an outcome that a later host adds,
  /// because that may be a new class of cheating.
  bool built() const {
    constexpr std::string_view kBuilt[] = {"crashed", "timed_out", "out_of_memory", "wrong",
                                           "correct"};
    return std::find(std::begin(kBuilt), std::end(kBuilt), outcome) != std::end(kBuilt) &&
           stage != "response" && stage != "build";
  }
};

struct Episode {
  Value task;
  bool ended = false;
  std::int64_t max_turns = 0;
  std::vector<Turn> turns;  ///< in order, at least one
};

struct TurnScore {
  double reward = 0;
  std::vector<std::pair<std::string, double>> components;
};

/// What score() gives back; `turns` and `returns` are as long as the episode's turns, nullopt where
/// unscored.
struct RewardReport {
  std::vector<std::optional<TurnScore>> turns;
  double return_to_date = 0;
  std::vector<std::optional<double>> returns;
};

struct RewardDescription {
  std::string summary;
  std::string source;                           ///< where the formula comes from
  double low = -kUnbounded, high = kUnbounded;  ///< range of one turn's reward
  Parameters parameters;
};

/// What a class must offer to be a reward. score() is const and may run on several threads at once.
template <typename T>
concept RewardType = requires(const T reward, const Config config, const Episode episode) {
  { T::describe() } -> std::convertible_to<RewardDescription>;
  T(config);
  { reward.score(episode) } -> std::convertible_to<RewardReport>;
};

/// How turns' rewards become returns. Unscored turns neither count nor discount: indices run over
/// scored turns.
struct ReturnRule {
  double gamma = 1;
  std::int64_t horizon = 0;  ///< turns that a return looks ahead, its own included; 0: to the end
  /// false ("sum"): every turn's return is the trajectory's, Σ γ^t r_t. true ("forward"): each turn
  /// has its own, Σ_{k≥t} γ^(k−t) r_k. The return to date is the first turn's in both.
  bool forward = false;
};

/// The discounted sum of `rewards` from `first` on, within the rule's horizon.
inline double discounted(const std::vector<double>& rewards, std::size_t first,
                         const ReturnRule& rule) {
  std::size_t last = rewards.size();
  if (rule.horizon > 0) last = std::min(last, first + static_cast<std::size_t>(rule.horizon));
  double sum = 0;
  for (std::size_t k = last; k > first; --k) sum = rewards[k - 1] + rule.gamma * sum;
  return sum;
}

/// Scores each scored turn with `score_turn(const Turn&) -> TurnScore` and forms the returns.
template <typename ScoreTurn>
RewardReport score_turns(const Episode& episode, const ReturnRule& rule, ScoreTurn score_turn) {
  RewardReport report;
  std::vector<double> rewards;
  for (const Turn& turn : episode.turns) {
    report.turns.push_back(turn.scored ? std::optional<TurnScore>(score_turn(turn)) : std::nullopt);
    if (turn.scored) rewards.push_back(report.turns.back()->reward);
  }
  report.return_to_date = discounted(rewards, 0, rule);
  std::size_t index = 0;
  for (const Turn& turn : episode.turns) {
    if (!turn.scored) {
      report.returns.emplace_back();
    } else {
      const std::size_t first = index++;
      report.returns.emplace_back(rule.forward ? discounted(rewards, first, rule)
                                               : report.return_to_date);
    }
  }
  return report;
}

/// Reads the map that score() gets. Members that a newer host adds are left alone, and its outcomes
/// are taken as they are.
inline Turn turn_from_value(const Value& value, std::size_t index) {
  const std::string context = "turns/" + std::to_string(index);
  Reader r(value, context);
  Turn turn;
  turn.number = r.integer("turn", 0, INT64_MAX);
  turn.scored = r.flag("scored");
  if (!turn.scored) return turn;
  Reader v = r.inside("verdict");
  turn.verdict = r.value("verdict");
  turn.outcome = v.text("outcome");
  turn.stage = v.text_or("stage", "");
  if (v.value_or_null("speedup") != nullptr) {
    Reader s = v.inside("speedup");
    turn.speedup = Speedup{s.number("value", 0), s.number("low", 0), s.number("high", 0),
                           s.texts_or("flags", {})};
  }
  return turn;
}

inline Episode episode_from_value(const Value& value) {
  Reader r(value, "episode");
  Episode episode;
  if (const Value* task = r.value_or_null("task")) episode.task = *task;
  episode.ended = r.flag("ended");
  episode.max_turns = r.integer("max_turns", 0, INT64_MAX);
  const Value::Array& turns = r.array("turns");
  if (turns.empty()) r.mistake("turns", "expected at least one");
  for (const Value& turn : turns) {
    episode.turns.push_back(turn_from_value(turn, episode.turns.size()));
  }
  return episode;
}

inline Value report_value(const RewardReport& report) {
  Value turns = Value::array(), returns = Value::array();
  for (const std::optional<TurnScore>& turn : report.turns) {
    if (!turn) {
      turns.push(nullptr);
      continue;
    }
    Value components = Value::map();
    for (const auto& [name, part] : turn->components) components.set(name, part);
    turns.push(Value::map({{"reward", turn->reward}, {"components", std::move(components)}}));
  }
  for (const std::optional<double>& one : report.returns) returns.push(one ? Value(*one) : Value());
  return Value::map({{"turns", std::move(turns)},
                     {"return", report.return_to_date},
                     {"returns", std::move(returns)}});
}

/// The C table of a reward class.
template <RewardType T>
struct RewardTable {
  static std::int32_t describe(hone_sink* out, hone_error* error) {
    return guard(error, [&] {
      const RewardDescription d = T::describe();
      write(out, Value::map({{"summary", d.summary},
                             {"source", d.source},
                             {"range", Value::array({bound_value(d.low), bound_value(d.high)})},
                             {"parameters", parameters_value(d.parameters)}}));
    });
  }
  static std::int32_t create(const hone_host*, hone_bytes config, hone_reward** out,
                             hone_error* error) {
    return guard(error, [&] {
      *out = nullptr;
      *out = reinterpret_cast<hone_reward*>(
          new T(Config(from_msgpack(config), RewardDescription(T::describe()).parameters)));
    });
  }
  static std::int32_t score(hone_reward* reward, hone_bytes episode, hone_sink* out,
                            hone_error* error) {
    return guard(error, [&] {
      const T& self = *reinterpret_cast<const T*>(reward);
      write(out, report_value(self.score(episode_from_value(from_msgpack(episode)))));
    });
  }
  static void destroy(hone_reward* reward) { delete reinterpret_cast<T*>(reward); }

  static const void* get_factory(const char* id) {
    static constexpr hone_reward_factory kTable{sizeof(hone_reward_factory), describe, create,
                                                score, destroy};
    return id != nullptr && std::strcmp(id, HONE_REWARD_FACTORY_ID) == 0 ? &kTable : nullptr;
  }
};

}  // namespace hone::plugin
