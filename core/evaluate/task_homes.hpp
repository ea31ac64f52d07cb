// TaskHomes: which lane prepares a task.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace hone {

/// Not thread-safe. A task is at home at a lane that has it ready or evaluates a submission of it. The number of submissions of
/// a task that are built and wait for a lane is its demand.
///
/// Theory of operation. The first evaluation of a task on a lane also prepares the task: the reference, its tolerance and the
/// baseline. Another lane helps at once if the expected wait is longer than a preparation. The expected wait is the demand times
/// the mean time of an evaluation, divided by the number of lanes that have the task. Otherwise it helps after it has been idle
/// for as long as a preparation takes, and at most for kIdleMaxS. So an idle lane wastes at most the time that a
/// useless preparation would take, whatever the lanes that have the task are doing.
class TaskHomes {
 public:
  /// Lanes have the numbers 0, 1, … in this order.
  void add_lane() { lanes_.emplace_back(); }

  /// A submission waits for a lane from now on.
  void add_waiting(const std::string& task) { ++demand_[task]; }
  /// It does not wait any more.
  void remove_waiting(const std::string& task);
  /// The lane takes a submission that waits.
  void begin(std::size_t lane, const std::string& task);
  /// The lane has finished its submission, if it had one.
  void end(std::size_t lane);
  /// Adds the time that a lane needed to prepare the task (s). The first call for a task is its first preparation.
  void add_preparation(const std::string& task, double seconds);
  /// The time of an evaluation without a preparation (s).
  void add_evaluation(const std::string& task, double seconds);
  /// The tasks that the lane has ready now.
  void set_ready(std::size_t lane, std::set<std::string> tasks);

  /// The lane should evaluate submissions of lower rank first. Negative: it should leave a submission to the lanes that have its
  /// task. `idle_s`: time for which the lane has had nothing to do.
  int rank(std::size_t lane, const std::string& task, double idle_s) const;

 private:
  /// Moving averages (s). The first preparation of a task takes longer: it also measures what hone then stores for later ones,
  /// such as the reference's error.
  struct Times {
    std::optional<double> first_preparation_s, preparation_s, evaluation_s;
  };
  struct Lane {
    std::set<std::string> ready;
    std::string current;  ///< task of the submission that it evaluates; empty: none
  };
  static void add(std::optional<double>& average_s, double seconds);
  Times& own_times(const std::string& task);
  Times times_of(const std::string& task) const;
  /// Adds `change` to the number of homes of each task of the lane.
  void count_homes(const Lane& lane, int change);

  std::vector<Lane> lanes_;
  std::map<std::string, int> homes_;  ///< number of lanes at which a task is at home
  std::map<std::string, std::size_t> demand_;
  std::map<std::string, Times> times_;
  std::optional<double>
      further_share_;  ///< time of a further preparation / time of the task's first, on average
  Times of_all_;       ///< for tasks without times of their own
};

}  // namespace hone
