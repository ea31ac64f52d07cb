// Which tasks have counters of their own.
#include "episode/task_counters.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace hone {

void TaskCounters::Histogram::add(double value, const std::array<double, 10>& bounds) {
  if (!std::isfinite(value)) return;
  for (std::size_t i = 0; i < bounds.size(); ++i) cumulative[i] += value <= bounds[i] ? 1u : 0u;
  ++count;
  sum += value;
}

Value TaskCounters::Histogram::value(const std::array<double, 10>& bounds) const {
  Value buckets = Value::map();
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    char bound[16];
    std::snprintf(bound, sizeof bound, "%g", bounds[i]);
    buckets.set(bound, static_cast<std::int64_t>(cumulative[i]));
  }
  return Value::map(
      {{"count", static_cast<std::int64_t>(count)}, {"sum", sum}, {"buckets", std::move(buckets)}});
}

void TaskCounters::OfTask::add(const TurnFacts& facts) {
  if (!facts.scored) ++unscored;
  reward.add(facts.reward, Histogram::kRewards);
  if (!(facts.speedup > 0)) return;  // NaN: the turn has no speedup
  speedup.add(facts.speedup, Histogram::kSpeedups);
  if (std::isfinite(facts.speedup)) speedup_log_sum += std::log(facts.speedup);
}

Value TaskCounters::OfTask::value() const {
  Value speedups = speedup.value(Histogram::kSpeedups);
  speedups.set("log_sum", speedup_log_sum);
  return Value::map({{"unscored", static_cast<std::int64_t>(unscored)},
                     {"reward", reward.value(Histogram::kRewards)},
                     {"speedup", std::move(speedups)}});
}

void TaskCounters::count(const std::string& task, const TurnFacts& facts) {
  MutexLock lock(mutex_);
  (listed(task) ? of_[task] : other_).add(facts);
}

bool TaskCounters::listed(const std::string& task) {
  if (task == kOther || (turns_.size() >= kKnown && turns_.count(task) == 0)) return false;
  const std::uint64_t turns = ++turns_[task];
  if (listed_.count(task) != 0) return true;
  if (listed_.size() >= kListed) {
    const auto rarest =
        std::min_element(listed_.begin(), listed_.end(),
                         [this](const std::string& a, const std::string& b)
                             HONE_REQUIRES(mutex_) { return turns_.at(a) < turns_.at(b); });
    if (turns < 2 * turns_.at(*rarest)) return false;
    listed_.erase(rarest);
  }
  listed_.insert(task);
  return true;
}

Value TaskCounters::value() const {
  MutexLock lock(mutex_);
  Value tasks = Value::map();
  for (const std::string& task : listed_) tasks.set(task, of_.at(task).value());
  tasks.set(kOther, other_.value());
  return tasks;
}

}  // namespace hone
