#include "examine/profile.hpp"

#include "examine/findings.hpp"

namespace hone {
namespace {

constexpr std::size_t kFindingsMax = 3;

Value shape_value(const std::uint32_t (&shape)[3]) {
  return Value::array({std::int64_t{shape[0]}, std::int64_t{shape[1]}, std::int64_t{shape[2]}});
}

Value accesses_value(const ProfileInput& input) {
  constexpr std::size_t kAccessesShown = 16;
  Value accesses = Value::array();
  for (const LaneAccess& access : input.code.accesses) {
    if (accesses.as_array().size() < kAccessesShown) accesses.push(lane_access_to_value(access));
  }
  return accesses;
}

/// nil: the launch was not counted.
Value counters_value(const ProfileInput& input, std::size_t launch) {
  const std::vector<LaunchCounters>& counted = input.counters.launches;
  return launch < counted.size() ? facts_of_launch(counted[launch]) : Value();
}

Value launches_value(const ProfileInput& input) {
  Value launches = Value::array();
  const std::vector<ReadyLaunch> ready = timed_launches(input);
  for (std::size_t i = 0; i < ready.size(); ++i) {
    const ReadyLaunch& launch = ready[i];
    launches.push(Value::map({{"kernel", input.plan->launches[i].kernel},
                              {"grid", shape_value(launch.grid)},
                              {"block", shape_value(launch.block)},
                              {"shared_bytes", std::int64_t{launch.shared_bytes}},
                              {"counters", counters_value(input, i)}}));
  }
  return launches;
}

}  // namespace

Value profile_facts(const ProfileInput& input) {
  const Speedup& speedup = *input.verdict.speedup;
  const ProfileFigures figures = profile_figures(input);
  Value loops = Value::array(), kernels = Value::array(), findings = Value::array();
  for (const LoopRemark& loop : input.code.loops) loops.push(loop_remark_to_value(loop));
  for (const KernelResources& kernel : input.code.kernels)
    kernels.push(kernel_resources_to_value(kernel));
  for (std::string& text : profile_findings(input, figures, kFindingsMax))
    findings.push(std::move(text));
  return Value::map({{"time_us", speedup.time_us},
                     {"baseline_us", speedup.baseline_us},
                     {"speedup", speedup.value},
                     {"interval", Value::array({speedup.low, speedup.high})},
                     {"flags", texts_value(speedup.flags)},
                     {"bytes", figures.bytes},
                     {"bytes_per_second", finite_or_nil(figures.bytes_per_second)},
                     {"memory_share", finite_or_nil(figures.memory_share)},
                     {"peak_bytes_per_second", finite_or_nil(figures.peak_bytes_per_second)},
                     {"flops", finite_or_nil(figures.flops)},
                     {"flops_per_second", finite_or_nil(figures.flops_per_second)},
                     {"flops_share", finite_or_nil(figures.flops_share)},
                     {"peak_flops_per_second", finite_or_nil(figures.peak_flops_per_second)},
                     {"intensity", finite_or_nil(figures.intensity)},
                     {"cycles_per_output", finite_or_nil(figures.cycles_per_output)},
                     {"loops", std::move(loops)},
                     {"kernels", std::move(kernels)},
                     {"accesses", accesses_value(input)},
                     {"launches", launches_value(input)},
                     {"moved_bytes", finite_or_nil(figures.moved_bytes)},
                     {"moved_bytes_per_second", finite_or_nil(figures.moved_bytes_per_second)},
                     {"moved_share", finite_or_nil(figures.moved_share)},
                     {"counters_problem",
                      input.counters.problem.empty() ? Value() : Value(input.counters.problem)},
                     {"findings", std::move(findings)},
                     {"left_out", texts_value(input.code.left_out)}});
}

}  // namespace hone
