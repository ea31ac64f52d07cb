// Device: evaluates submissions on one device, one at a time. A device for modules may have several of these
// objects, called lanes, which share it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "base/result.hpp"
#include "evaluate/build_pool.hpp"
#include "evaluate/device_counting.hpp"
#include "evaluate/device_job.hpp"
#include "evaluate/device_lock.hpp"
#include "evaluate/device_sanitizing.hpp"
#include "evaluate/judge_client.hpp"
#include "evaluate/judge_start.hpp"
#include "evaluate/kept_processes.hpp"
#include "evaluate/lane_work.hpp"
#include "evaluate/memory_ledger.hpp"
#include "evaluate/options.hpp"
#include "evaluate/process_pool.hpp"
#include "evaluate/running_process.hpp"
#include "evaluate/task_memory.hpp"
#include "evaluate/task_slots.hpp"
#include "evaluate/zygotes.hpp"

namespace hone {

class Device;

/// Longest time that a lane works on one evaluation, without waits for other lanes.
double hold_seconds(const EvaluatorOptions& options);

/// State that the lanes of one device share.
struct SharedByLanes {
  /// Rationale of the limits: a lane holds the device for at most hold_seconds() of its own work, so a wait
  /// takes at most that time for all lanes together.
  SharedByLanes(const EvaluatorOptions& options, std::size_t lane_count)
      : lock(hold_seconds(options) * static_cast<double>(lane_count)),
        ledger(hold_seconds(options) * static_cast<double>(lane_count)),
        memory(options, lane_count) {}

  DeviceLock lock;
  MemoryLedger ledger;
  TaskMemory memory;
  TaskFindings findings;
  std::vector<Device*> lanes;  ///< complete before the first lane starts
};

/// One thread calls run() and admit(); cancel() and close() may come from any.
///
/// Theory of operation. A job first reserves device memory (memory_ledger.hpp), then takes the lock (device_lock.hpp). With
/// the lock, only the lane's own thread touches its tasks, processes and judge. Without it, another lane may take back its
/// tasks (of an idle lane) or all but its judge (if that lane has all memory). So the thread holds `state_mutex_` when it
/// touches these without the lock.
class Device {
 public:
  Device(Launcher& launcher, Zygotes& zygotes, BuildPool& builds, const EvaluatorOptions& options,
         DeviceSpec spec, SharedByLanes& shared);
  ~Device();

  /// Starts the judge, a standby candidate and, by `counters_ahead` of the options, a process that reads counters.
  Status start();
  /// Tries again to start a judge that did not start. problem() has the result.
  void start_again();
  /// Starts standby processes in place of those that were taken.
  void make_ready();
  /// Starts the process that reads counters, if one should wait. Call it after make_ready(), when no job waits.
  void use_idle_time();
  /// Leaves the device to other lanes until the next job.
  void rest();
  /// Evaluates one submission once.
  Evaluation run(const DeviceJob& job);
  /// Runs a submission of native code under the device's sanitizer, while nothing else runs on the device.
  Result<SanitizerReply> sanitize(const DeviceJob& job, const DeviceCalls& program);
  /// Reads hardware counters for a call of a submission of native code, while nothing else runs on the device. Errors: those
  /// of count_on_device().
  Result<std::vector<LaunchCounters>> count(const DeviceJob& job, const DeviceCalls& call,
                                            double seconds);
  /// The judge's report on trivial answers and the reference's error.
  Result<Value> admit(const std::shared_ptr<const Task>& task, std::uint64_t seed);
  /// Kills the submission that is being judged, and ends a wait for memory if the job is over. [any thread]
  void cancel();
  /// Kills the submission and the judge, and refuses all further jobs. [any thread]
  void close();

  TaskMemory& memory() { return shared_.memory; }
  /// The device's facts as reported by the judge, once started.
  const Value& facts() const { return facts_; }
  /// Why its judge could not be started; empty: it was. [any thread]
  std::string problem() const;
  /// Number of processes used by submitted modules so far. [any thread]
  std::size_t module_processes() const { return module_processes_; }
  /// Processes that read hardware counters. [any thread]
  PlayerCounts player_counts() const { return pool_.player_counts(); }
  /// Whether this lane has the reference and the baseline of the task with this key ready. [the thread of
  /// run()]
  bool has_ready(const std::string& task_key) const;
  /// The keys of all tasks that are ready. [the thread of run()]
  std::set<std::string> ready_tasks() const;
  /// Whether this lane could reserve this many bytes of device memory now. [any thread]
  bool could_claim(std::uint64_t bytes) const { return shared_.ledger.could_claim(lane_, bytes); }
  /// The lane's current step: "install the reference of level3/17". [any thread]
  std::string work() const { return lock_.work(); }

 private:
  // The steps of an evaluation.
  Result<DeviceResult> evaluate(const DeviceJob& job);
  Result<DeviceResult> judge(const DeviceJob& job);
  void put_away(KeptProcess process, DeviceResult& result);
  bool is_over(const DeviceJob& job) const;
  /// Waits until nothing else runs on the device, and reserves it for a tool's process.
  Status take_for_tool(const DeviceJob& job, const std::string& step, double seconds);
  /// Lets cancel() end the process until running_ is set to null.
  void let_cancel(const DeviceJob& job, Process& process);
  /// From now on, hone keeps a process that reads counters ready, and the memory budget includes it. No effect with
  /// CountersAhead::kOnce, or if counters cannot be read.
  void keep_player();
  void end_use(Player player);
  // The judge and its tasks.
  Status ensure_judge();
  Status start_judge_exclusively();
  void stop_judge();
  Result<SlotRequest> slot_of(const DeviceJob& job) const;
  Result<std::string> ensure_installed(const DeviceJob& job);
  JudgeCallbacks judge_callbacks();
  Status wait_for_lanes(const std::function<Status()>& wait);
  // The lock and the memory.
  Status acquire(const DeviceJob& job);
  Status take_lock(bool exclusive);
  void leave_lock();
  Status claim_memory(const DeviceJob& job, bool all);
  Status take_back_from(const std::vector<std::size_t>& lanes);
  void take_all_memory();
  std::vector<std::unique_ptr<Process>> yield_tasks();
  std::vector<std::unique_ptr<Process>> yield_memory();
  std::uint64_t held_bytes() const;

  Launcher& launcher_;
  BuildPool& builds_;
  const EvaluatorOptions& options_;
  const DeviceSpec spec_;
  SharedByLanes& shared_;
  LaneLock lock_;
  LaneWork work_;
  const std::size_t lane_;     ///< its number in the memory ledger
  mutable Mutex state_mutex_;  ///< see the theory of operation
  JudgeClient judge_;
  ProcessPool pool_;
  KeptProcesses kept_;
  TaskSlots slots_;
  Value facts_;
  mutable Mutex problem_mutex_;
  std::string problem_ HONE_GUARDED_BY(problem_mutex_);
  RunningProcess running_;
  Circumstances circumstances_;  ///< of the current evaluation
  std::int64_t last_process_ = 0;
  std::uint64_t reserved_bytes_ =
      0;                         ///< for the job, including memory that dropped tasks will free
  bool drops_others_ = false;    ///< drop all other tasks before the next one is judged
  bool keeps_player_ = false;    ///< see keep_player()
  bool has_all_memory_ = false;  ///< other lanes hold no memory except their judges'
  /// Consecutive jobs for which this lane went ahead of waiting lanes, or had all memory.
  int consecutive_jobs_ = 0;
  std::atomic<bool> closed_{false};
  std::atomic<std::size_t> module_processes_{0};
};

}  // namespace hone
