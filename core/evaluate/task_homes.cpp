#include "evaluate/task_homes.hpp"

#include <utility>

namespace hone {
namespace {

constexpr std::size_t kTasksMax = 1 << 14;  // limits the memory for times
// A lane that has the task may need longer than expected. After this many times the time of a first evaluation, any lane helps.
constexpr double kPatienceFactor = 4;
constexpr double kNewShare = 0.25;  // of the newest time in a moving average

}  // namespace

void TaskHomes::begin(std::size_t lane, const std::string& task) {
  lanes_[lane].current = task;
  const auto demand = demand_.find(task);
  if (demand != demand_.end() && --demand->second == 0) demand_.erase(demand);
}

void TaskHomes::add(std::optional<double>& average_s, double seconds) {
  average_s = average_s ? *average_s + kNewShare * (seconds - *average_s) : seconds;
}

void TaskHomes::add_time(const std::string& task, double seconds, bool was_ready) {
  if (times_.size() >= kTasksMax) times_.clear();
  for (Times* times : {&times_[task], &of_all_})
    add(was_ready ? times->later_s : times->first_s, seconds);
}

void TaskHomes::set_ready(std::size_t lane, std::set<std::string> tasks) {
  lanes_[lane].ready = std::move(tasks);
}

TaskHomes::Times TaskHomes::times_of(const std::string& task) const {
  Times times = of_all_;
  const auto own = times_.find(task);
  if (own == times_.end()) return times;
  if (own->second.first_s) times.first_s = own->second.first_s;
  if (own->second.later_s) times.later_s = own->second.later_s;
  return times;
}

int TaskHomes::rank(std::size_t lane, const std::string& task, double waited_s) const {
  enum { kLeave = -1, kReady, kNew, kHelp };
  if (lanes_[lane].ready.count(task) != 0) return kReady;
  double homes = 0;
  for (const Lane& each : lanes_) {
    if (each.current == task || each.ready.count(task) != 0) ++homes;
  }
  if (homes == 0) return kNew;
  const Times times = times_of(task);
  if (!times.first_s || !times.later_s || waited_s > kPatienceFactor * *times.first_s) return kHelp;
  const auto demand = demand_.find(task);
  const double waiting = demand == demand_.end() ? 0 : static_cast<double>(demand->second);
  const double expected_wait_s = waiting * *times.later_s / homes;
  return expected_wait_s > *times.first_s - *times.later_s ? kHelp : kLeave;
}

}  // namespace hone
