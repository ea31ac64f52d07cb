#include "evaluate/task_homes.hpp"

#include <algorithm>
#include <utility>

namespace hone {
namespace {

constexpr std::size_t kTasksMax = 1 << 14;  // limits the memory for times
constexpr double kIdleMaxS = 5;  // as long as a large module takes; more may be due to other work
constexpr double kNewShare = 0.25;  // of the newest time in a moving average

}  // namespace

void TaskHomes::remove_waiting(const std::string& task) {
  const auto demand = demand_.find(task);
  if (demand != demand_.end() && --demand->second == 0) demand_.erase(demand);
}

void TaskHomes::count_homes(const Lane& lane, int change) {
  const auto count = [&](const std::string& task) {
    const auto home = homes_.try_emplace(task, 0).first;
    if ((home->second += change) == 0) homes_.erase(home);
  };
  for (const std::string& task : lane.ready) count(task);
  if (!lane.current.empty() && lane.ready.count(lane.current) == 0) count(lane.current);
}

void TaskHomes::begin(std::size_t lane, const std::string& task) {
  remove_waiting(task);
  count_homes(lanes_[lane], -1);
  lanes_[lane].current = task;
  count_homes(lanes_[lane], 1);
}

void TaskHomes::end(std::size_t lane) {
  count_homes(lanes_[lane], -1);
  lanes_[lane].current.clear();
  count_homes(lanes_[lane], 1);
}

void TaskHomes::set_ready(std::size_t lane, std::set<std::string> tasks) {
  if (lanes_[lane].ready == tasks) return;
  count_homes(lanes_[lane], -1);
  lanes_[lane].ready = std::move(tasks);
  count_homes(lanes_[lane], 1);
}

void TaskHomes::add(std::optional<double>& average_s, double seconds) {
  average_s = average_s ? *average_s + kNewShare * (seconds - *average_s) : seconds;
}

TaskHomes::Times& TaskHomes::own_times(const std::string& task) {
  if (times_.size() >= kTasksMax) times_.clear();
  return times_[task];
}

void TaskHomes::add_preparation(const std::string& task, double seconds) {
  Times& own = own_times(task);
  if (own.first_preparation_s && *own.first_preparation_s > 0)
    add(further_share_, std::min(seconds / *own.first_preparation_s, 1.0));
  const auto which = own.first_preparation_s ? &Times::preparation_s : &Times::first_preparation_s;
  add(own.*which, seconds);
  add(of_all_.*which, seconds);
}

void TaskHomes::add_evaluation(const std::string& task, double seconds) {
  add(own_times(task).evaluation_s, seconds);
  add(of_all_.evaluation_s, seconds);
}

TaskHomes::Times TaskHomes::times_of(const std::string& task) const {
  Times times = of_all_;
  if (!times.preparation_s) times.preparation_s = times.first_preparation_s;
  const auto found = times_.find(task);
  if (found == times_.end()) return times;
  const Times& own = found->second;
  if (own.preparation_s) {
    times.preparation_s = own.preparation_s;
  } else if (own.first_preparation_s) {
    times.preparation_s = further_share_.value_or(1) * *own.first_preparation_s;
  }
  if (own.evaluation_s) times.evaluation_s = own.evaluation_s;
  return times;
}

int TaskHomes::rank(std::size_t lane, const std::string& task, double idle_s) const {
  enum { kLeave = -1, kReady, kNew, kHelp };
  // Without a key there is nothing to prepare.
  if (task.empty() || lanes_[lane].ready.count(task) != 0) return kReady;
  const auto homes = homes_.find(task);
  if (homes == homes_.end()) return kNew;
  const Times times = times_of(task);
  if (!times.preparation_s || !times.evaluation_s) return kHelp;
  if (idle_s >= std::min(*times.preparation_s, kIdleMaxS)) return kHelp;
  const auto demand = demand_.find(task);
  const double waiting = demand == demand_.end() ? 0 : static_cast<double>(demand->second);
  const double expected_wait_s = waiting * *times.evaluation_s / homes->second;
  return expected_wait_s > *times.preparation_s ? kHelp : kLeave;
}

}  // namespace hone
