// TaskMemory: a device's memory, and where there is enough of it for a task.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>

#include "base/mutex.hpp"
#include "base/result.hpp"
#include "evaluate/memory_budget.hpp"
#include "evaluate/mode.hpp"
#include "evaluate/options.hpp"
#include "model/task.hpp"

namespace hone {

/// Of all the properties of a task.
std::string task_key(const Task& task);
/// The key of the task's slot in a mode: a module that is replayed has another baseline.
std::string slot_key(const Task& task, Mode mode);

/// One device's, for all its lanes. [any thread]
class TaskMemory {
 public:
  /// `options` outlives it.
  TaskMemory(const EvaluatorOptions& options, std::size_t lane_count)
      : options_(options), lane_count_(lane_count) {}

  /// As the judge reports it.
  void set_bytes(std::uint64_t bytes) { bytes_ = bytes; }
  /// From now on, one more process waits with the device open.
  void keep_player() { players_ = 1; }
  /// Whether the device has memory that lanes divide.
  bool is_budgeted() const { return bytes_ != 0; }
  DeviceMemory device() const;
  Result<MemoryNeed> need(const Task& task) const;
  /// failed_precondition: there is not enough memory for the task.
  Result<MemoryPlace> place(const Task& task) const;
  /// Hone's own processes lacked memory for the task while other lanes kept some: for some minutes it gets all of it.
  void note_short(const Task& task);
  /// The error of hone's own processes, if they lacked memory although the task had all of it. failed_precondition: the
  /// task needs more than there is.
  Error not_enough(const Task& task, const Error& error) const;

 private:
  Status expect_host_memory(const Task& task) const;

  const EvaluatorOptions& options_;
  const std::size_t lane_count_;
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<int> players_{0};
  mutable Mutex mutex_;
  /// By task: until when it gets all memory. Rationale: a submission can cause a shortage, and its task must not be judged so
  /// for good.
  std::map<std::string, double> short_until_s_ HONE_GUARDED_BY(mutex_);
};

}  // namespace hone
