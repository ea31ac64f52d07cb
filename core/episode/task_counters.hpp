// TaskCounters: rewards and speedups by task, for `metrics`, with a bounded number of tasks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "base/mutex.hpp"
#include "episode/environment.hpp"
#include "model/value.hpp"

namespace hone {

/// [any thread] The busiest tasks have counters of their own, the rest are counted together as "other". A task takes the
/// place of another one when it has twice as many turns. No counter decreases: a turn is counted where its task is
/// at that time, and a task that leaves and returns continues with its own counters.
class TaskCounters {
 public:
  static constexpr std::size_t kListed = 50;      ///< tasks with counters of their own
  static constexpr std::size_t kKnown = 100'000;  ///< tasks whose turns are counted
  static constexpr const char* kOther = "other";

  void count(const std::string& task, const TurnFacts& facts);
  /// {task: {"unscored": n, "reward": {"count", "sum", "buckets": {"le": n}}, "speedup": {…, "log_sum"}}}. "log_sum": the sum of
  /// the natural logarithms of speedups, for their geometric mean.
  Value value() const;

 private:
  struct Histogram {
    static constexpr std::array<double, 10> kRewards{-1, 0, 0.25, 0.5, 0.75, 1, 1.5, 2, 4, 10};
    static constexpr std::array<double, 10> kSpeedups{0.25, 0.5, 0.75, 0.9, 1, 1.1, 1.5, 2, 4, 10};
    std::array<std::uint64_t, 10> cumulative{};
    std::uint64_t count = 0;
    double sum = 0;
    void add(double value, const std::array<double, 10>& bounds);
    Value value(const std::array<double, 10>& bounds) const;
  };
  struct OfTask {
    std::uint64_t unscored = 0;
    Histogram reward, speedup;
    double speedup_log_sum = 0;
    void add(const TurnFacts& facts);
    Value value() const;
  };
  bool listed(const std::string& task) HONE_REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::map<std::string, std::uint64_t> turns_ HONE_GUARDED_BY(mutex_);
  std::set<std::string> listed_ HONE_GUARDED_BY(mutex_);
  std::map<std::string, OfTask> of_ HONE_GUARDED_BY(mutex_);  // also of tasks that have left
  OfTask other_ HONE_GUARDED_BY(mutex_);
};

}  // namespace hone
