// Memory budget: how much of a device's memory a task needs, and what follows from that. Pure functions, no device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "judge_protocol/settings.hpp"
#include "model/task.hpp"

namespace hone {

/// Device memory of one process' context, with the kernels of torch that a module loads. Measured: 0.4 to 0.5 GiB.
inline constexpr std::uint64_t kContextBytes = std::uint64_t{512} << 20;

/// Bytes of device memory that a task needs while a submission of it is judged.
struct MemoryNeed {
  std::uint64_t reference_arena =
      0;  ///< inputs, and outputs as double or narrow (layout.hpp); of small tasks, of several rounds
  std::uint64_t baseline_arena = 0;  ///< inputs and outputs; 0: the task has no baseline
  std::uint64_t submission_arena = 0;
  std::uint64_t snapshots = 0;  ///< the judge's copies of a module's outputs
  // Estimates, from tensor sizes alone, of what torch allocates besides. Networks with many layers need more.
  std::uint64_t reference_work = 0;  ///< inputs and outputs as double
  std::uint64_t baseline_work = 0, submission_work = 0;
  std::uint64_t contexts = 0;  ///< of reference, baseline and submission

  /// Held while the task is kept ready.
  std::uint64_t installed() const;
  /// Held while one of its submissions is judged: installed() and more.
  std::uint64_t expected() const;
  /// Below this no submission can be judged: arenas, copies, contexts and the outputs of one call of both sides.
  std::uint64_t least() const;
};

/// `context_bytes`: of one process. `timed`: there is a baseline. `module`: Python modules run in processes of their own,
/// and the judge copies their outputs.
Result<MemoryNeed> memory_need(const Task& task, const MeasureSettings& settings,
                               std::uint64_t device_bytes, std::uint64_t context_bytes, bool timed,
                               bool module);

/// A device's memory and who divides it.
struct DeviceMemory {
  std::uint64_t bytes =
      0;  ///< as the driver reports it; 0: the device has none of its own, nothing is budgeted
  int lanes = 1;
  std::uint64_t context_bytes = kContextBytes;
  int standby = 0;  ///< processes of one lane that wait with the device open

  /// For one task of a lane that has the device to itself: other lanes keep their judges and no more.
  std::uint64_t whole() const;
  /// For the tasks of all lanes: the device's memory less the driver's reserve, the judges and processes on standby.
  std::uint64_t pool() const;
  /// For all tasks that one lane keeps ready and the one that it judges, if that one is not larger.
  std::uint64_t share() const;
};

/// Where a task is judged.
enum class MemoryPlace {
  kShare,  ///< with other lanes; waits until its memory is free
  kWhole,  ///< with the device to itself: nothing of other lanes, no task kept ready, no process on standby
  kRefused,  ///< nowhere: the device is too small
};
/// `ran_short`: hone's own processes lacked memory for the task while other lanes used the device.
MemoryPlace place_for(const MemoryNeed& need, const DeviceMemory& device, bool ran_short);

/// How many of the tasks that are kept ready are to go so that another one has room: of `installed`, bytes of each, the one
/// that was used last first. They go from the end.
std::size_t count_to_evict(const std::vector<std::uint64_t>& installed, std::uint64_t needed,
                           std::uint64_t room);

/// "91.2 GiB".
std::string gib_text(std::uint64_t bytes);
/// "level1/145 needs 91.2 GiB of device memory, the device has 79.2 GiB".
std::string refusal_text(const std::string& task_id, std::uint64_t needed,
                         std::uint64_t device_bytes);

}  // namespace hone
