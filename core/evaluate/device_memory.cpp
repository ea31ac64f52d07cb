// What a device's memory is given to: tasks kept ready, processes on standby, or one task that needs all of it.
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "evaluate/device.hpp"

namespace hone {
namespace {

constexpr double kShortSeconds = 600;  // that a task has the device to itself after a shortage

}  // namespace

DeviceMemory Device::memory() const {
  DeviceMemory memory;
  memory.bytes = shared_.memory_bytes;
  memory.lanes = static_cast<int>(shared_.lanes.size());
  memory.context_bytes = options_.context_bytes;
  if (options_.toolchains.count("python") != 0)
    memory.standby = kModulesAhead + kTrustedModulesAhead;
  return memory;
}

std::uint64_t Device::memory_bytes(const Task& task) const {
  const auto need = need_of(task);
  return need ? need->expected() : 0;
}

Result<MemoryNeed> Device::need_of(const Task& task) const {
  if (!options_.device_code) return MemoryNeed{};
  return memory_need(task, options_.measure, shared_.memory_bytes, options_.context_bytes,
                     is_timed(task, options_), is_module(task, options_));
}

/// On the processor: refuses a module whose tensors alone exceed the machine's memory.
Status Device::expect_host_memory(const Task& task) {
  if (options_.device_code || !is_module(task, options_)) return {};
  const bool timed = is_timed(task, options_);
  HONE_ASSIGN(const MemoryNeed need, memory_need(task, options_.measure, 0, 0, timed, true));
  const std::uint64_t tensors = need.reference_arena + need.baseline_arena + need.submission_arena;
  const auto machine = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                       static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
  if (tensors <= machine) return {};
  gave_up_ = true;
  return failed_precondition(task.id + " needs " + gib_text(tensors) +
                             " of memory for its tensors, the machine has " + gib_text(machine));
}

/// failed_precondition: nowhere.
Result<MemoryPlace> Device::place_of(const Task& task) {
  HONE_TRY(expect_host_memory(task));
  const DeviceMemory device = memory();
  if (device.bytes == 0 || task.backends.count(options_.backend) == 0) return MemoryPlace::kShare;
  HONE_ASSIGN(const MemoryNeed need, need_of(task));
  bool ran_short = false;
  {
    MutexLock lock(shared_.mutex);
    const auto known = shared_.short_until_s.find(task_key(task));
    ran_short = known != shared_.short_until_s.end() && monotonic_s() < known->second;
  }
  const MemoryPlace place = place_for(need, device, ran_short);
  if (place != MemoryPlace::kRefused) return place;
  gave_up_ = true;
  return failed_precondition(
      refusal_text(task.id, need.least() + (device.bytes - device.whole()), device.bytes));
}

/// Whether memory of the device was short, for whomever. Rationale: a process that could not open the device has loaded
/// nothing, and mostly it lacked memory.
Shortage Device::shortage_of(const Result<DeviceResult>& result) const {
  Shortage found;
  found.to_itself = to_itself_;
  if (shared_.memory_bytes == 0) return found;
  if (!result) {
    found.out_of_memory = result.error().code == Code::kResourceExhausted;
    return found;
  }
  const Judgement& judged = result->judgement;
  const bool could_not_open =
      judged.ending == Ending::kFault && judged.where.place == Place::kLoading;
  found.out_of_memory = judged.ending == Ending::kOutOfMemory || could_not_open;
  found.of_submission = judged.culprit == Culprit::kSubmission;
  return found;
}

void Device::note_short(const Task& task) {
  constexpr std::size_t kTasksMax = 1024;
  MutexLock lock(shared_.mutex);
  if (shared_.short_until_s.size() >= kTasksMax) shared_.short_until_s.clear();
  shared_.short_until_s[task_key(task)] = monotonic_s() + kShortSeconds;
}

/// Of hone's own processes, which found too little memory with the device to themselves.
Error Device::not_enough(const Task& task, const Error& error) {
  if (error.code != Code::kResourceExhausted) return error;
  const auto need = need_of(task);
  const std::uint64_t expected = need ? need->expected() : 0, device = shared_.memory_bytes;
  if (expected <= memory().whole()) {
    return unavailable(error.message + "; " + task.id + " needs about " + gib_text(expected) +
                       " and had the device's " + gib_text(device) +
                       " to itself: see whether other programs use the device");
  }
  gave_up_ = true;
  return failed_precondition(error.message + "; by its tensors " +
                             refusal_text(task.id, expected, device));
}

bool Device::lacks_judge() const {
  MutexLock lock(state_mutex_);
  return !judge_.is_started();
}

/// Processes that wait for work, with their contexts.
void Device::close_standby() {
  for (auto& [kind, runners] : standby_) {
    for (Runner& runner : runners) let_go(std::move(runner.process));
    runners.clear();
  }
}

void Device::drop_all_tasks() {
  while (!installed_.empty()) drop(std::string(oldest_task()));
}

/// The tasks that this lane keeps ready, for another lane that needs their memory. The caller waits for the processes to
/// end.
std::vector<std::unique_ptr<Process>> Device::yield_tasks() {
  MutexLock lock(state_mutex_);
  drop_all_tasks();
  return std::exchange(leaving_, {});
}

/// What this lane has on the device but its judge, for another lane that has the device whole. The caller waits for the
/// processes to end.
std::vector<std::unique_ptr<Process>> Device::yield_memory() {
  MutexLock lock(state_mutex_);
  drop_all_tasks();
  for (auto& [owner, kept] : kept_) {
    judge_.forget(kept.id);
    let_go(std::move(kept.process));
  }
  kept_.clear();
  kept_ages_.clear();
  close_standby();
  judge_.trim();
  return std::exchange(leaving_, {});
}

/// Of a lane that has the device whole: takes memory back from the others, and from its own processes on standby.
void Device::have_to_itself() {
  to_itself_ = true;
  in_a_row_ = 0;
  for (Device* other : shared_.lanes) {
    if (other == this) continue;
    auto ended = other->yield_memory();
    std::move(ended.begin(), ended.end(), std::back_inserter(leaving_));
  }
  close_standby();
  forget_all();
  judge_.trim();
  await_last();
}

/// Device memory of the tasks kept ready, in bytes.
std::uint64_t Device::held_bytes() const {
  MutexLock lock(state_mutex_);
  std::uint64_t bytes = 0;
  for (const auto& [key, installed] : installed_) bytes += installed.bytes;
  return bytes;
}

/// The tasks kept ready that are to go before the one with this key is judged, the one used longest ago first; with the
/// device to itself all of them.
std::vector<std::string> Device::tasks_to_drop(const MemoryNeed& need,
                                               const std::string& key) const {
  std::vector<std::string> keys;
  std::vector<std::uint64_t> bytes;
  for (const std::string& each : ages_) {
    if (each == key) continue;
    keys.push_back(each);
    bytes.push_back(installed_.at(each).bytes);
  }
  const DeviceMemory device = memory();
  std::size_t count = keys.size() < options_.installed_max ? 0 : 1;
  if (to_itself_ || drops_others_) count = keys.size();
  if (device.bytes > 0)
    count = std::max(count, count_to_evict(bytes, need.expected(), device.share()));
  return {keys.rbegin(), keys.rbegin() + static_cast<std::ptrdiff_t>(count)};
}

/// Bytes that this lane holds while it judges the task: the task's need, tasks kept ready, and the task whose processes it
/// inherits. `drops_others`: the need alone.
Result<std::uint64_t> Device::bytes_to_claim(const Task& task, bool drops_others) const {
  HONE_ASSIGN(const MemoryNeed need, need_of(task));
  if (drops_others) return need.expected();
  const std::string key = task_key(task);
  MutexLock lock(state_mutex_);
  std::uint64_t bytes = need.expected();
  for (const auto& [each, installed] : installed_) bytes += each == key ? 0 : installed.bytes;
  const std::vector<std::string> to_drop = tasks_to_drop(need, key);
  const std::string inherited = task_to_inherit(to_drop, task, need);
  for (const std::string& each : to_drop)
    bytes -= each == inherited ? 0 : installed_.at(each).bytes;
  return bytes;
}

/// Reserves memory for a job. If it is not free, the lane gives up its turn and waits.
Status Device::claim_memory(const DeviceJob& job, bool to_itself) {
  constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
  const Task& task = *job.task;
  drops_others_ = false;
  HONE_ASSIGN(const std::uint64_t with_others, bytes_to_claim(task, false));
  HONE_ASSIGN(const std::uint64_t alone, bytes_to_claim(task, true));
  const std::uint64_t most = to_itself ? kAll : with_others, least = to_itself ? kAll : alone;
  // Rationale: installing a task takes longer than judging one submission of it.
  const bool again = is_installed(task) && in_a_row_ < kInARowMax;
  const bool wanted_by_others = shared_.ledger.is_wanted();
  for (const std::uint64_t bytes : {most, least}) {
    reserved_bytes_ = bytes;
    if (shared_.ledger.try_claim(lane_, bytes, again)) {
      in_a_row_ = wanted_by_others ? in_a_row_ + 1 : 0;
      return {};
    }
    drops_others_ = true;
  }
  in_a_row_ = 0;
  rest();
  set_work("wait for memory for");
  const double from_s = monotonic_s();
  const auto taken = shared_.ledger.claim(lane_, least, [&] { return is_over(job); });
  const Status dropped = taken ? take_back_from(*taken) : Status(taken.error());
  tell_waited(from_s);
  gave_up_ = !dropped && dropped.error().code == Code::kDeadlineExceeded;
  return dropped;
}

/// Drops the tasks that lanes at rest keep ready. Rationale: ending processes and freeing memory
/// disturb a measurement, so this lane holds a shared turn meanwhile and nobody measures.
Status Device::take_back_from(const std::vector<std::size_t>& lanes) {
  if (lanes.empty()) return {};
  const Status shares = turn_.share();
  if (shares) {
    for (const std::size_t lane : lanes) {
      auto ended = shared_.lanes[lane]->yield_tasks();
      std::move(ended.begin(), ended.end(), std::back_inserter(leaving_));
    }
    await_last();
  }
  shared_.ledger.free_again(lanes);
  return shares;
}

/// Before other lanes use the device again.
void Device::shrink_to_share() {
  if (!to_itself_) return;
  to_itself_ = false;
  drop_all_tasks();
}

}  // namespace hone
