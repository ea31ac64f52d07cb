// TaskFigures: attempts, success and speedup of each task, counted turn by turn.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "journal/records.hpp"
#include "model/value.hpp"
#include "web/turn_sums.hpp"

namespace hone {

/// The return of an episode, counted from its first turn. `reply`: the reply to its last turn. NaN if it has no return.
double episode_return(const Value& reply);
/// The interval of the speedup: low and high; NaN if it has none. `reply`: the reply to a turn.
std::pair<double, double> speedup_interval(const Value& reply);

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

  /// Counts and sums over a set of turns.
  struct Counts {
    TurnSums sums;
    std::int64_t unscored = 0;
    std::array<std::int64_t, kThresholds.size()> faster{};
    std::map<std::string, std::int64_t> outcomes;
    double best_speedup = 0;             // 0: no attempt was timed
    double best_low = 0, best_high = 0;  // of the best speedup; 0: unknown
    std::uint64_t best_episode = 0;      // the attempt with the best speedup
    std::int64_t best_turn = 0;
    std::int64_t returns = 0;
    double return_sum = 0;

    void add(const TurnLine& turn);
    /// The return of an episode, from its first turn on. NaN does not count.
    void add_return(double value);
    Value value() const;
  };

  /// `ended_return`: the return of the episode that this turn ended; NaN if it ended none.
  void add(const TurnLine& turn, double ended_return = std::numeric_limits<double>::quiet_NaN());
  /// For each task that value() lists, and for all tasks together, reads the interval of the best speedup, unless add() got it.
  /// `read`: the interval of a turn; NaN: it has none. Stops at the first error.
  Status read_intervals(const std::function<Result<std::pair<double, double>>(
                            std::uint64_t episode, std::int64_t turn)>& read);
  /// {"tasks": [{"task", "episodes", "attempts", "unscored", "outcomes": {NAME: COUNT}, "correct", "success", "fast_p": {"1": SHARE},
  ///  "best_speedup", "best_low", "best_high", "speedup_mean", "reward_mean", "returns", "return_mean"}], "left_out", "all"}.
  /// "best_low" and "best_high": the best speedup's interval, nil if unknown. "speedup_mean" is the geometric mean of
  /// correct, timed attempts. "returns" is the number of episodes with a return.
  /// The tasks with the most attempts first, at most 1000; "left_out" is the number of the others. "all" has the same
  /// members without "task" and "episodes", and "tasks" (their number) and "best_fast_p": the share of tasks whose best
  /// attempt is more than p times as fast as the baseline. Shares without attempts are nil.
  Value value(const std::vector<TaskLine>& episodes) const;

 private:
  std::map<std::string, Counts> of_;
  Counts all_;
};

}  // namespace hone
