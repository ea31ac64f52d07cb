// Memory budget: device memory that a task needs, and the decisions that follow from it. Pure functions, no
// device.
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
  // Estimates, from tensor sizes only, of torch's own allocations. Networks with many layers need more.
  std::uint64_t reference_work = 0;  ///< inputs and outputs as double
  std::uint64_t baseline_work = 0, submission_work = 0;
  std::uint64_t contexts = 0;  ///< of reference, baseline and submission
  bool in_turn = false;        ///< the baseline gives its memory back before the reference answers

  /// Held while the task is kept ready.
  std::uint64_t installed() const;
  /// Held while one of its submissions is judged: installed() and more.
  std::uint64_t expected() const;
  /// Minimum to judge a submission: arenas, copies, contexts and the outputs of one call of both sides.
  std::uint64_t least() const;
};

/// `context_bytes`: of one process. `timed`: there is a baseline. `module`: Python modules run in processes of their own,
/// and the judge copies their outputs.
Result<MemoryNeed> memory_need(const Task& task, const MeasureSettings& settings,
                               std::uint64_t device_bytes, std::uint64_t context_bytes, bool timed,
                               bool module);

/// A device's memory, and the lanes that share it.
struct DeviceMemory {
  std::uint64_t bytes =
      0;  ///< as the driver reports it; 0: the device has none of its own, and nothing is budgeted
  int lanes = 1;
  std::uint64_t context_bytes = kContextBytes;
  int standby = 0;  ///< processes of one lane that wait with the device open
  int players = 0;  ///< processes of the device that wait with it open, to read counters

  /// For one task of a lane that uses the device exclusively: other lanes keep only their judges.
  std::uint64_t exclusive_bytes() const;
  /// For the tasks of all lanes: the device's memory minus the driver's reserve, the judges and standby
  /// processes.
  std::uint64_t shared_bytes() const;
  /// For all tasks that one lane keeps ready, including the one that it judges, unless that one alone is
  /// larger.
  std::uint64_t lane_bytes() const;
};

/// How the task uses the device.
enum class MemoryPlace {
  kShared,     ///< together with other lanes; waits until its memory is free
  kExclusive,  ///< exclusively: no memory of other lanes, no other task kept ready, no standby process
  kRefused,  ///< not at all: the device is too small
};
/// `ran_short`: hone's own processes recently lacked memory for the task while other lanes used the device.
MemoryPlace place_for(const MemoryNeed& need, const DeviceMemory& device, bool ran_short);

/// The number of ready tasks to drop so that another task fits. `installed`: their bytes, the most recently
/// used first. They are dropped from the end.
std::size_t count_to_evict(const std::vector<std::uint64_t>& installed, std::uint64_t needed,
                           std::uint64_t room);

/// "91.2 GiB".
std::string gib_text(std::uint64_t bytes);
/// "level1/145 needs 91.2 GiB of device memory, the device has 79.2 GiB".
std::string refusal_text(const std::string& task_id, std::uint64_t needed,
                         std::uint64_t device_bytes);

}  // namespace hone
