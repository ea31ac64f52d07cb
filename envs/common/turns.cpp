// Stop rules, and the members of an observation about turns.
#include "common/turns.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hone {
namespace {

constexpr std::int64_t kTurnsMax = 1000;
constexpr double kSecondsMax = 30 * 24 * 3600.0;
constexpr double kAny = std::numeric_limits<double>::max();

/// A rule that nil switches off. If it is absent, the default applies.
std::optional<double> rule(Fields& f, std::string_view key, std::optional<double> fallback,
                           double low, double high) {
  if (!f.has(key)) {
    (void)f.value_or_null(key);  // a known key, even if it is absent
    return fallback;
  }
  if (f.value_or_null(key) == nullptr) return std::nullopt;
  return f.number(key, low, high);
}

Value number_or_nil(const std::optional<double>& number) {
  return number ? Value(*number) : Value();
}

Value number_or_nil(double number) { return std::isnan(number) ? Value() : Value(number); }

Value history_line(std::size_t turn, const TurnFacts& facts) {
  return Value::map({{"turn", turn},
                     {"outcome", facts.scored ? facts.outcome : "unscored"},
                     {"speedup", number_or_nil(facts.speedup)},
                     {"reward", number_or_nil(facts.reward)}});
}

}  // namespace

TurnRules read_turn_rules(Fields& f, const TurnRules& defaults) {
  TurnRules rules;
  rules.max_turns = f.integer_or("max_turns", defaults.max_turns, 1, kTurnsMax);
  rules.stop_speedup = rule(f, "stop_speedup", defaults.stop_speedup, 0, kAny);
  rules.stop_reward = rule(f, "stop_reward", defaults.stop_reward, -kAny, kAny);
  rules.seconds_max = rule(f, "seconds_max", defaults.seconds_max, 0, kSecondsMax);
  return rules;
}

Value describe_turn_rules(const TurnRules& defaults) {
  return Value::map({{"max_turns", defaults.max_turns},
                     {"stop_speedup", number_or_nil(defaults.stop_speedup)},
                     {"stop_reward", number_or_nil(defaults.stop_reward)},
                     {"seconds_max", number_or_nil(defaults.seconds_max)}});
}

Stop decide_stop(const TurnRules& rules, std::size_t turns_before, double seconds_used,
                 const TurnResult& result) {
  const bool measured =
      result.verdict && result.verdict->correct() && result.verdict->speedup.has_value();
  if (rules.stop_speedup && measured && result.verdict->speedup->value >= *rules.stop_speedup) {
    return {.terminated = true, .reason = "correct and fast enough"};
  }
  if (rules.stop_reward && result.reward && *result.reward >= *rules.stop_reward) {
    return {.terminated = true, .reason = "reward reached"};
  }
  if (static_cast<std::int64_t>(turns_before) + 1 >= rules.max_turns) {
    return {.truncated = true, .reason = "turns used up"};
  }
  if (rules.seconds_max && seconds_used >= *rules.seconds_max) {
    return {.truncated = true, .reason = "seconds used up"};
  }
  return {};
}

double best_speedup(std::span<const TurnFacts> turns) {
  double best = 0;
  for (const TurnFacts& turn : turns) {
    if (turn.outcome == outcome_name(Outcome::kCorrect) && turn.speedup > best) best = turn.speedup;
  }
  return best;
}

void add_turns(Value& observation, const EpisodeView& view, const TurnRules& rules,
               const TurnResult* result) {
  std::vector<TurnFacts> turns(view.turns.begin(), view.turns.end());
  bool ended = false;
  if (result != nullptr) {
    ended = decide_stop(rules, turns.size(), view.seconds_used, *result).ended();
    turns.push_back(facts_of(*result));
  }
  Value history = Value::array();
  for (std::size_t i = 0; i < turns.size(); ++i) history.push(history_line(i + 1, turns[i]));
  const auto turn = static_cast<std::int64_t>(turns.size());
  const double best = best_speedup(turns);
  observation.set("turn", turn);
  observation.set("turns_left", ended ? 0 : rules.max_turns - turn);
  observation.set("seconds_left", rules.seconds_max
                                      ? Value(std::max(0.0, *rules.seconds_max - view.seconds_used))
                                      : Value());
  observation.set("history", std::move(history));
  observation.set("best_speedup", best > 0 ? Value(best) : Value());
}

std::optional<double> seconds_used_of(const TurnRules& rules, const Value& observation) {
  const Value* left = observation.find("seconds_left");
  if (!rules.seconds_max || left == nullptr || !left->is_number()) return std::nullopt;
  return *rules.seconds_max - left->as_double();
}

}  // namespace hone
