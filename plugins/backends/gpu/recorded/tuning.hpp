// Chooses the configurations of a plan's autotuned kernels.
#pragma once

#include <cstdint>
#include <vector>

#include "recorded/loaded_plan.hpp"

namespace hone_gpu {

/// Sets `loaded.chosen` to the fastest configurations. `addresses`: of each memory, including the task's tensors. The
/// tensors keep their contents, because the calls get copies. If the device has too little memory for the copies, the
/// first configurations stay chosen. The first pass begins no call after kFirstTuningSeconds, except the first call of
/// each kernel. Up to four further passes begin no call after kTuningSeconds.
///
/// Rationale: whole calls are timed, because each call leaves the plan's private memory as the next one expects it. The
/// kernels are tuned one after another. Before each call the copies are made again, and the cache is
/// overwritten as before a timed round.
void choose_configurations(LoadedPlan& loaded, const std::vector<std::uint64_t>& addresses);

inline constexpr double kTuningSeconds = 1;
/// Rationale: on a busy machine, a limit of kTuningSeconds would leave configurations untried. A submission could then
/// run a slower one than on an idle machine.
inline constexpr double kFirstTuningSeconds = 4;

}  // namespace hone_gpu
