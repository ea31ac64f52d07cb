// TaskHomes: which lanes have a task ready, and whether another lane should prepare it, too.
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
/// baseline. Another lane helps only if the submissions would wait longer for the lanes that have the task than it takes to
/// prepare it. Both times are moving averages.
class TaskHomes {
 public:
  /// Lanes have the numbers 0, 1, … in this order.
  void add_lane() { lanes_.emplace_back(); }

  /// A submission waits for a lane from now on.
  void add_waiting(const std::string& task) { ++demand_[task]; }
  /// The lane takes a submission.
  void begin(std::size_t lane, const std::string& task);
  /// The lane has no submission any more, if it had one.
  void end(std::size_t lane) { lanes_[lane].current.clear(); }
  /// The time of an evaluation. `was_ready`: without preparing the task.
  void add_time(const std::string& task, double seconds, bool was_ready);
  /// The tasks that the lane has ready now.
  void set_ready(std::size_t lane, std::set<std::string> tasks);

  /// The lane should evaluate submissions of lower rank first. Negative: it should leave a submission that has waited for
  /// `waited_s` to the lanes that have its task.
  int rank(std::size_t lane, const std::string& task, double waited_s) const;

 private:
  /// Moving averages of the time of an evaluation that prepares the task, and of others.
  struct Times {
    std::optional<double> first_s, later_s;
  };
  struct Lane {
    std::set<std::string> ready;
    std::string current;  ///< task of the submission that it evaluates; empty: none
  };
  static void add(std::optional<double>& average_s, double seconds);
  Times times_of(const std::string& task) const;

  std::vector<Lane> lanes_;
  std::map<std::string, std::size_t> demand_;
  std::map<std::string, Times> times_;
  Times of_all_;  ///< for tasks without times of their own
};

}  // namespace hone
