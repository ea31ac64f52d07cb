// Counts turns, and makes shares of the counts.
#include "web/task_figures.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "model/verdict.hpp"

namespace hone {
namespace {

constexpr std::size_t kTasksShown = 1000;
constexpr std::size_t kOutcomesMax =
    32;  // of a task; a newer hone may have outcomes that this one does not know

std::string threshold_name(double p) {
  char text[16];
  std::snprintf(text, sizeof text, "%g", p);
  return text;
}

Value share(std::int64_t part, std::int64_t whole) {
  return mean_value(static_cast<double>(part), whole);
}

}  // namespace

std::pair<double, double> speedup_interval(const Value& reply) {
  const Value& verdict = member_or_nil(member_or_nil(reply, "info"), "verdict");
  const Value& speedup = member_or_nil(verdict, "speedup");
  return {number_or_nan(member_or_nil(speedup, "low")),
          number_or_nan(member_or_nil(speedup, "high"))};
}

double episode_return(const Value& reply) {
  const Value* returns = reply.find("returns");
  const bool has_one = returns != nullptr && returns->is_array() && !returns->as_array().empty() &&
                       returns->as_array().front().is_number();
  return has_one ? returns->as_array().front().as_double()
                 : std::numeric_limits<double>::quiet_NaN();
}

void TaskFigures::Counts::add(const TurnLine& turn) {
  if (!turn.scored) {
    ++unscored;
    return;
  }
  sums.add(turn);
  if (outcomes.size() < kOutcomesMax || outcomes.count(turn.outcome) != 0) ++outcomes[turn.outcome];
  if (turn.outcome != outcome_name(Outcome::kCorrect) || !std::isfinite(turn.speedup)) return;
  if (turn.speedup > best_speedup) {
    best_speedup = turn.speedup;
    best_low = std::isfinite(turn.low) ? turn.low : 0;
    best_high = std::isfinite(turn.high) ? turn.high : 0;
    best_episode = turn.episode;
    best_turn = turn.turn;
  }
  for (std::size_t i = 0; i < kThresholds.size(); ++i) faster[i] += turn.speedup > kThresholds[i];
}

void TaskFigures::Counts::add_return(double value) {
  if (!std::isfinite(value)) return;
  ++returns;
  return_sum += value;
}

Value TaskFigures::Counts::value() const {
  Value fast_p = Value::map(), by_outcome = Value::map();
  for (std::size_t i = 0; i < kThresholds.size(); ++i)
    fast_p.set(threshold_name(kThresholds[i]), share(faster[i], sums.attempts));
  for (const auto& [outcome, count] : outcomes) by_outcome.set(outcome, count);
  return Value::map({{"attempts", sums.attempts},
                     {"unscored", unscored},
                     {"outcomes", std::move(by_outcome)},
                     {"correct", sums.correct},
                     {"success", sums.success()},
                     {"fast_p", std::move(fast_p)},
                     {"best_speedup", best_speedup > 0 ? Value(best_speedup) : Value()},
                     {"best_low", best_low > 0 ? Value(best_low) : Value()},
                     {"best_high", best_high > 0 ? Value(best_high) : Value()},
                     {"speedup_mean", sums.speedup_mean()},
                     {"reward_mean", sums.reward_mean()},
                     {"returns", returns},
                     {"return_mean", mean_value(return_sum, returns)}});
}

void TaskFigures::add(const TurnLine& turn, double ended_return) {
  const bool listed = of_.size() < kTasksMax || of_.count(turn.task) != 0;
  for (Counts* counts : {&all_, &of_[listed ? turn.task : "other"]}) {
    counts->add(turn);
    counts->add_return(ended_return);
  }
}

Status TaskFigures::read_intervals(
    const std::function<Result<std::pair<double, double>>(std::uint64_t, std::int64_t)>& read) {
  std::vector<Counts*> shown = {&all_};
  for (auto& [task, counts] : of_) shown.push_back(&counts);
  std::stable_sort(shown.begin() + 1, shown.end(), [](const Counts* a, const Counts* b) {
    return a->sums.attempts > b->sums.attempts;
  });
  shown.resize(std::min(shown.size(), kTasksShown + 1));
  for (Counts* counts : shown) {
    if (counts->best_speedup == 0 || counts->best_low > 0) continue;
    HONE_ASSIGN(const auto interval, read(counts->best_episode, counts->best_turn));
    counts->best_low = std::isfinite(interval.first) ? interval.first : 0;
    counts->best_high = std::isfinite(interval.second) ? interval.second : 0;
  }
  return {};
}

Value TaskFigures::value(const std::vector<TaskLine>& episodes) const {
  std::map<std::string, std::int64_t> opened;
  std::map<std::string, Counts> of = of_;
  for (const TaskLine& line : episodes) {
    opened[line.task] = line.episodes;
    if (of.size() < kTasksMax) of[line.task];  // a task that has no finished turn yet
  }
  std::vector<const std::pair<const std::string, Counts>*> order;
  std::array<std::int64_t, kThresholds.size()> best_faster{};
  for (const auto& one : of) {
    order.push_back(&one);
    for (std::size_t i = 0; i < kThresholds.size(); ++i)
      best_faster[i] += one.second.best_speedup > kThresholds[i];
  }
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return a->second.sums.attempts > b->second.sums.attempts;
  });
  Value tasks = Value::array();
  for (std::size_t i = 0; i < std::min(order.size(), kTasksShown); ++i) {
    const auto& [task, counts] = *order[i];
    Value row = counts.value();
    row.set("task", task);
    const auto found = opened.find(task);
    row.set("episodes", found != opened.end() ? Value(found->second) : Value());
    tasks.push(std::move(row));
  }
  Value all = all_.value(), best_fast_p = Value::map();
  for (std::size_t i = 0; i < kThresholds.size(); ++i) {
    best_fast_p.set(threshold_name(kThresholds[i]),
                    share(best_faster[i], static_cast<std::int64_t>(order.size())));
  }
  all.set("best_fast_p", std::move(best_fast_p));
  all.set("tasks", order.size());
  const std::size_t shown = std::min(order.size(), kTasksShown);
  return Value::map(
      {{"tasks", std::move(tasks)}, {"left_out", order.size() - shown}, {"all", std::move(all)}});
}

}  // namespace hone
