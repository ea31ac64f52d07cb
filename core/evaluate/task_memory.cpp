// Computes budgets from the options and the device's facts, and remembers shortages.
#include "evaluate/task_memory.hpp"

#include <unistd.h>

#include "base/clock.hpp"
#include "base/crypto.hpp"
#include "evaluate/sources.hpp"

namespace hone {
namespace {

constexpr double kShortSeconds = 600;  // time for which a task gets all memory after a shortage
constexpr std::size_t kShortTasksMax = 1024;

}  // namespace

std::string task_key(const Task& task) { return sha256_hex(to_msgpack(task_to_value(task))); }

std::string slot_key(const Task& task, Mode mode) {
  return task_key(task) + (mode == Mode::kRecordedModule ? " recorded" : "");
}

DeviceMemory TaskMemory::device() const {
  DeviceMemory memory;
  memory.bytes = bytes_;
  memory.lanes = static_cast<int>(lane_count_);
  memory.context_bytes = options_.context_bytes;
  if (options_.toolchains.count("python") != 0)
    memory.standby = kModulesAhead + kTrustedModulesAhead;
  memory.players = players_;
  return memory;
}

Result<MemoryNeed> TaskMemory::need(const Task& task) const {
  const Mode mode = mode_of(task, options_);
  if (!uses_device(mode)) return MemoryNeed{};
  return memory_need(task, options_.measure, bytes_, options_.context_bytes, is_timed(mode),
                     is_module(mode));
}

/// Refuses a module on the processor if its tensors alone exceed the machine's memory.
Status TaskMemory::expect_host_memory(const Task& task) const {
  if (mode_of(task, options_) != Mode::kModuleOnCpu) return {};
  HONE_ASSIGN(const MemoryNeed need, memory_need(task, options_.measure, 0, 0, false, true));
  const std::uint64_t tensors = need.reference_arena + need.baseline_arena + need.submission_arena;
  const auto machine = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                       static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
  if (tensors <= machine) return {};
  return failed_precondition(task.id + " needs " + gib_text(tensors) +
                             " of memory for its tensors, the machine has " + gib_text(machine));
}

Result<MemoryPlace> TaskMemory::place(const Task& task) const {
  HONE_TRY(expect_host_memory(task));
  const DeviceMemory memory = device();
  if (memory.bytes == 0 || task.backends.count(options_.backend) == 0) return MemoryPlace::kShared;
  HONE_ASSIGN(const MemoryNeed needed, need(task));
  bool ran_short = false;
  {
    MutexLock lock(mutex_);
    const auto known = short_until_s_.find(task_key(task));
    ran_short = known != short_until_s_.end() && monotonic_s() < known->second;
  }
  const MemoryPlace place = place_for(needed, memory, ran_short);
  if (place != MemoryPlace::kRefused) return place;
  return failed_precondition(refusal_text(
      task.id, needed.least() + (memory.bytes - memory.exclusive_bytes()), memory.bytes));
}

void TaskMemory::note_short(const Task& task) {
  MutexLock lock(mutex_);
  if (short_until_s_.size() >= kShortTasksMax) short_until_s_.clear();
  short_until_s_[task_key(task)] = monotonic_s() + kShortSeconds;
}

Error TaskMemory::not_enough(const Task& task, const Error& error) const {
  if (error.code != Code::kResourceExhausted) return error;
  const auto needed = need(task);
  const std::uint64_t expected = needed ? needed->expected() : 0;
  const DeviceMemory memory = device();
  if (expected <= memory.exclusive_bytes()) {
    return unavailable(error.message + "; " + task.id + " needs about " + gib_text(expected) +
                       " and had all " + gib_text(memory.bytes) +
                       " of the device; check whether other programs use it");
  }
  return failed_precondition(error.message + "; estimated from the sizes of its tensors: " +
                             refusal_text(task.id, expected, memory.bytes));
}

}  // namespace hone
