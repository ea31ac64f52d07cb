// TaskFigures: attempts, success and speedup of each task, counted turn by turn.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "journal/records.hpp"
#include "model/value.hpp"

namespace hone {

/// An attempt is a turn with a verdict. fast_p is the share of attempts that are correct and more than p times as fast as
/// the baseline. Memory is bounded: tasks after the first kTasksMax are counted together as "other". One thread.
///
///   TaskFigures figures;
///   reader.each_turn([&](const TurnLine& turn) { figures.add(turn); return true; });
///   HttpReply reply{.body = figures.value(*reader.tasks())};
class TaskFigures {
 public:
  static constexpr std::array<double, 4> kThresholds = {1, 1.5, 2, 5};  ///< p of fast_p
  static constexpr std::size_t kTasksMax = 10'000;

  void add(const TurnLine& turn);
  /// {"tasks": [{"task", "episodes", "attempts", "unscored", "outcomes": {NAME: COUNT}, "correct", "success", "fast_p": {"1": SHARE},
  ///  "best_speedup", "speedup_mean", "reward_mean"}], "left_out", "all"}.
  /// "speedup_mean" is the geometric mean of correct, timed attempts.
  /// The tasks with the most attempts first, at most 1000; "left_out" is the number of the others. "all" has the same
  /// members without "task" and "episodes", and "tasks" (their number) and "best_fast_p": the share of tasks whose best
  /// attempt is more than p times as fast as the baseline. Shares without attempts are nil.
  Value value(const std::vector<TaskLine>& episodes) const;

 private:
  struct Counts {
    std::int64_t attempts = 0, unscored = 0, correct = 0, timed = 0, rewards = 0;
    std::array<std::int64_t, kThresholds.size()> faster{};
    std::map<std::string, std::int64_t> outcomes;
    double best_speedup = 0;  // 0: no attempt was timed
    double speedup_log_sum = 0, reward_sum = 0;

    void add(const TurnLine& turn);
    Value value() const;
  };

  std::map<std::string, Counts> of_;
  Counts all_;
};

}  // namespace hone
