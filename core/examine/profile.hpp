// Where a submission's time goes: figures of a task and a device, and the facts that matter most, in words.
#pragma once

#include <string>
#include <vector>

#include "examine/code_report.hpp"
#include "examine/launch_facts.hpp"
#include "model/plan.hpp"
#include "model/task.hpp"
#include "model/verdict.hpp"

namespace hone {

/// Hardware counters of a call.
struct ProfileCounters {
  std::vector<LaunchCounters> launches;
  std::string problem;  ///< why there are none; empty: they were read, or this code has none
};

/// All that is known about one timed submission. Members that are unknown are empty or 0.
struct ProfileInput {
  const Task& task;
  const Verdict& verdict;  ///< correct and timed
  Value
      device;  ///< the device's facts (backend.h), those of a processor with its speed (facts_with_speed)
  CodeReport code = {};
  const Plan* plan = nullptr;  ///< of native device code
  ProfileCounters counters = {};
};

/// {"time_us", "baseline_us", "interval": [low, high] of the speedup, "flags": [str], "bytes": the least number that a call moves, "bytes_per_second", "memory_share":
/// float|nil, "peak_bytes_per_second": float|nil, "flops": float|nil, "flops_per_second": float|nil, "flops_share": float|nil,
/// "peak_flops_per_second": float|nil, "intensity": FLOP for each byte: float|nil, "cycles_per_output": float|nil, "loops": […], "kernels": […], "accesses": […], "launches": […], "moved_bytes": float|nil, "moved_bytes_per_second": float|nil, "moved_share": float|nil, "counters_problem": str|nil, "findings": [str], "left_out": [str]}.
/// "findings" are sentences with a number each, the most important first.
Value profile_facts(const ProfileInput& input);

}  // namespace hone
