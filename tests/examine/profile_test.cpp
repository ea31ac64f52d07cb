// Figures of a profile, and its sentences: which one comes first for which fault.
#include "examine/profile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "examine/findings.hpp"

namespace hone {
namespace {

Task scale_task(std::int64_t n) {
  Task task;
  task.entry = "scale";
  task.tensors = {{"x", Role::kIn, DType::kF32, {"n"}}, {"out", Role::kOut, DType::kF32, {"n"}}};
  task.scalars = {{"n", DType::kI64, "n"}};
  task.arguments = {"x", "out", "n"};
  task.dims = {"n"};
  task.timed = {{"n", n}};
  task.families = {{"normal", {}, {}}};
  return task;
}

Verdict timed_verdict(double time_us) {
  Verdict verdict;
  verdict.outcome = Outcome::kCorrect;
  verdict.speedup = Speedup{};
  verdict.speedup->time_us = time_us;
  verdict.speedup->baseline_us = 10'000;
  return verdict;
}

Value processor() {
  return Value::map({{"clock_hz", 3e9},
                     {"vector_bytes", 32},
                     {"dram_bytes_per_second", 10e9},
                     {"flops_per_second_max", Value::map({{"f32", 100e9}, {"f64", 50e9}})}});
}

Value device() {
  return Value::map({{"multiprocessors", 132}, {"dram_bytes_per_second", 3.35e12}});
}

Plan plan_of(const std::string& grid, const std::string& block, int launches = 1) {
  Plan plan;
  for (int i = 0; i < launches; ++i) {
    PlanLaunch launch;
    launch.kernel = "scale";
    launch.grid = {grid};
    launch.block = {block};
    launch.arguments = {{PlanArgument::Kind::kName, "x"}};
    plan.launches.push_back(launch);
  }
  return plan;
}

std::string first_finding(const ProfileInput& input) {
  const auto findings = profile_findings(input, profile_figures(input), 3);
  return findings.empty() ? "" : findings[0];
}

/// The first finding of a kernel on the processor that takes this time.
std::string first_finding_on_processor(const Task& task, double time_us,
                                       const CodeReport& code = {}) {
  const Verdict verdict = timed_verdict(time_us);
  return first_finding({.task = task, .verdict = verdict, .device = processor(), .code = code});
}

TEST(Profile, Figures_FollowFromTimeBytesAndClock) {
  const Task task = scale_task(1'000'000);
  const Verdict verdict = timed_verdict(1000);
  const ProfileFigures figures =
      profile_figures({.task = task, .verdict = verdict, .device = processor()});
  EXPECT_EQ(figures.bytes, 8e6);
  EXPECT_NEAR(figures.bytes_per_second, 8e9, 1);
  EXPECT_NEAR(figures.memory_share, 0.8, 1e-6);
  EXPECT_NEAR(figures.cycles_per_output, 3, 1e-6);
}

TEST(Profile, Roofline_FollowsFromTheTasksOperations) {
  Task task = scale_task(1'000'000);
  task.flops = "40 * n";
  task.threads = 2;
  const Verdict verdict = timed_verdict(1000);
  const ProfileInput input = {.task = task, .verdict = verdict, .device = processor()};
  const ProfileFigures figures = profile_figures(input);
  EXPECT_EQ(figures.peak_bytes_per_second, 20e9);
  EXPECT_EQ(figures.peak_flops_per_second, 200e9);
  EXPECT_EQ(figures.flops, 40e6);
  EXPECT_NEAR(figures.flops_per_second, 40e9, 1);
  EXPECT_NEAR(figures.flops_share, 0.2, 1e-9);
  EXPECT_EQ(figures.intensity, 5);
  task.tensors[0].dtype = DType::kF64;
  EXPECT_EQ(profile_figures(input).peak_flops_per_second, 100e9);
}

TEST(Profile, TaskForMatrixUnits_PeakIsUnknown) {
  Task task = scale_task(1'000'000);
  task.flops = "40 * n";
  const Verdict verdict = timed_verdict(1000);
  const Plan plan = plan_of("4000", "256");
  Value rates = device();
  rates.set("flops_per_second_max", Value::map({{"f32", 60e12}}));
  const ProfileInput input = {.task = task, .verdict = verdict, .device = rates, .plan = &plan};
  EXPECT_EQ(profile_figures(input).peak_flops_per_second, 60e12);
  task.precision = "conv_tf32 off, matmul_tf32 on, compute f32";
  EXPECT_TRUE(std::isnan(profile_figures(input).peak_flops_per_second));
  task.precision = "";
  task.tensors[0].dtype = DType::kF16;
  EXPECT_TRUE(std::isnan(profile_figures(input).peak_flops_per_second));
}

TEST(Profile, ComputeBoundKernel_SaysSo) {
  Task task = scale_task(100'000);
  task.flops = "900 * n";
  EXPECT_EQ(first_finding_on_processor(task, 1000),
            "A call needs 90 MFLOP: 90 GFLOP/s, 90 % of the 100 GFLOP/s that the vector units do "
            "at most. It is compute-bound: fewer operations help most.");
}

TEST(Profile, KernelNearBothLimits_IsNotContradicted) {
  Task task = scale_task(1'000'000);
  task.flops = "90 * n";
  const Verdict verdict = timed_verdict(1000);
  const ProfileInput input = {.task = task, .verdict = verdict, .device = processor()};
  const auto findings = profile_findings(input, profile_figures(input), 3);
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_TRUE(findings[0].ends_with("memory-bound: less data or fewer passes help most."));
  EXPECT_TRUE(findings[1].ends_with("Arithmetic is near its limit, too."));
}

TEST(Profile, FewerOperationsThanStated_AreNoLimit) {
  Task task = scale_task(100'000);
  task.flops = "2000 * n";
  const std::string found = first_finding_on_processor(task, 1000);
  EXPECT_EQ(found.find("compute-bound"), std::string::npos) << found;
}

TEST(Profile, ComputeBoundKernelWithDataInCaches_SaysSo) {
  Task task = scale_task(1'000'000);
  task.flops = "90 * n";
  task.cache_warm = true;
  const Verdict verdict = timed_verdict(400);
  const std::string found = first_finding(
      {.task = task,
       .verdict = verdict,
       .device = Value::map({{"dram_bytes_per_second", 10e9},
                             {"flops_per_second_max", Value::map({{"f32", 250e9}})}})});
  EXPECT_NE(found.find("It is compute-bound"), std::string::npos) << found;
}

TEST(Profile, SlowKernelOfAnArithmeticTask_HasItsShareOfThePeak) {
  Task task = scale_task(1'000'000);
  task.flops = "80 * n";
  EXPECT_EQ(first_finding_on_processor(task, 10'000),
            "A call needs 80 MFLOP: 8 GFLOP/s, 8 % of the 100 GFLOP/s that the vector units do "
            "at most.");
}

CodeBlock loop_block(std::int64_t first, std::int64_t last, std::int64_t vector = 0) {
  CodeBlock block;
  block.function = "scale";
  block.is_loop = true;
  block.line_first = first;
  block.line_last = last;
  block.instructions = 100;
  block.vector = vector;
  return block;
}

/// As a matrix product without tiles on an H100.
TEST(Profile, ArithmeticTaskFarFromBothLimits_ShouldReuseItsData) {
  Task task = scale_task(1'000'000);
  task.flops = "2048 * n";
  const Verdict verdict = timed_verdict(140);
  const Plan plan = plan_of("4000", "256");
  CodeBlock loop = loop_block(9, 12);
  loop.global = 2;
  const CodeReport code = {.blocks = {loop}};
  const Value facts = Value::map({{"dram_bytes_per_second", 3352e9},
                                  {"multiprocessors", 132},
                                  {"flops_per_second_max", Value::map({{"f32", 66.9e12}})}});
  EXPECT_EQ(
      first_finding(
          {.task = task, .verdict = verdict, .device = facts, .code = code, .plan = &plan}),
      "A call needs 2.05 GFLOP: 14.6 TFLOP/s, 21.9 % of the 66.9 TFLOP/s that the vector units do "
      "at most. The task has 256 operations for each byte that it must move: load data once and "
      "use it many times, from registers and shared memory.");
}

TEST(Profile, StridedLoop_IsTheFirstFinding) {
  const Task task = scale_task(1'000'000);
  EXPECT_EQ(
      first_finding_on_processor(
          task, 4000,
          {.loops = {{3, true, 32, ""},
                     {14, false, 0, "not suitable for strided load", LoopObstacle::kStride}}}),
      "The loop at line 14 is not vectorized: it reads or writes memory with a stride. Make "
      "the innermost loop run over neighbouring elements. An output takes 12 cycles.");
}

TEST(Profile, OuterLoop_IsNotCalledUnvectorized) {
  const Task task = scale_task(1'000'000);
  const std::string found = first_finding_on_processor(
      task, 4000,
      {.blocks = {loop_block(9, 10, 8)},
       .loops = {{7, false, 0, "complicated access pattern"}, {9, true, 32, ""}}});
  EXPECT_EQ(found.find("not vectorized"), std::string::npos) << found;
}

TEST(Profile, StrideOfTheOuterLoop_IsNamed) {
  const Task task = scale_task(1'000'000);
  const std::string found = first_finding_on_processor(
      task, 4000,
      {.blocks = {loop_block(4, 5, 8)},
       .loops = {{3, false, 0, "not suitable for strided load", LoopObstacle::kStride},
                 {4, true, 8, ""}}});
  EXPECT_TRUE(
      found.starts_with("The loop at line 3 is not vectorized: it reads or writes memory "
                        "with a stride."))
      << found;
}

TEST(Profile, LoopWrittenWithVectors_IsNotCalledUnvectorized) {
  const Task task = scale_task(1'000'000);
  const LoopRemark calls{41, false, 0, "it calls 'prefetch'", LoopObstacle::kOther};
  const LoopRemark has_vectors{41, false, 0, "no vectype for stmt", LoopObstacle::kHasVectors};
  for (const auto& [vector, loop] : {std::pair(8, calls), std::pair(0, has_vectors)}) {
    const std::string found = first_finding_on_processor(
        task, 4000, {.blocks = {loop_block(41, 43, vector)}, .loops = {loop}});
    EXPECT_EQ(found.find("not vectorized"), std::string::npos) << found;
  }
}

TEST(Profile, ScalarInnermostLoop_IsNamed) {
  const Task task = scale_task(1'000'000);
  EXPECT_EQ(first_finding_on_processor(task, 4000,
                                       {.blocks = {loop_block(41, 43)},
                                        .loops = {{41, false, 0, "control flow in loop"}}}),
            "The loop at line 41 is not vectorized (compiler: \"control flow in loop\"). An output "
            "takes 12 cycles.");
}

TEST(Profile, RareOrColdCode_IsNotMentioned) {
  const Task task = scale_task(100'000);
  CodeBlock rare = loop_block(3, 9), cold = loop_block(3, 9);
  rare.divisions = 1;
  cold.function = "scale.cold";
  cold.calls = 2;
  for (const CodeBlock& block : {rare, cold}) {
    const std::string found = first_finding_on_processor(task, 4000, {.blocks = {block}});
    EXPECT_EQ(found.find("The innermost loop"), std::string::npos) << found;
  }
}

TEST(Profile, BaselineThatMovesTheSameDataFaster_IsNamed) {
  const Task task = scale_task(1'000'000);
  Verdict verdict = timed_verdict(1000);
  verdict.speedup->baseline_us = 800;
  EXPECT_EQ(first_finding({.task = task, .verdict = verdict, .device = processor()}),
            "A call has to move at least 8 MB and takes 1 ms: 8 GB/s, 80 % of the memory's "
            "bandwidth. The baseline takes 800 µs for the same work, so memory does not limit this "
            "kernel yet.");
}

TEST(Profile, ScalarLoopOfAMemoryBoundKernel_IsNotMentioned) {
  const Task task = scale_task(1'000'000);
  EXPECT_EQ(first_finding_on_processor(task, 1000,
                                       {.loops = {{14, false, 0, "unsupported use in stmt."}}}),
            "A call has to move at least 8 MB and takes 1 ms: 8 GB/s, 80 % of the memory's "
            "bandwidth. It is memory-bound: less data or fewer passes help most.");
}

TEST(Profile, FewBlocks_AreTheFirstFinding) {
  const Task task = scale_task(1'000'000);
  const Verdict verdict = timed_verdict(50);
  const Plan plan = plan_of("12", "256");
  EXPECT_EQ(first_finding({.task = task, .verdict = verdict, .device = device(), .plan = &plan}),
            "A launch has 12 blocks of 256 threads; the device has 132 multiprocessors, so 120 of "
            "them are idle. Divide the work into more blocks.");
}

/// The first finding for a plan that takes this time on the device.
std::string first_finding_on_device(const Task& task, double time_us, const Plan& plan,
                                    const CodeReport& code = {}) {
  const Verdict verdict = timed_verdict(time_us);
  Value facts = device();
  facts.set("flops_per_second_max", Value::map({{"f32", 60e12}}));
  return first_finding(
      {.task = task, .verdict = verdict, .device = facts, .code = code, .plan = &plan});
}

TEST(Profile, SmallLaunchAfterALargeOne_IsNotTheFirstFinding) {
  const Task task = scale_task(1'000'000);
  Plan plan = plan_of("4000", "256");
  plan.launches.push_back(plan_of("1", "32").launches[0]);
  const std::string found = first_finding_on_device(task, 50, plan);
  EXPECT_EQ(found.find("idle"), std::string::npos) << found;
  plan.launches[0].grid = {"8"};
  EXPECT_EQ(first_finding_on_device(task, 50, plan),
            "The largest launch has 8 blocks of 256 threads; the device has 132 multiprocessors, "
            "so 124 of them are idle. Divide the work into more blocks.");
}

TEST(Profile, FewThreadsOnAllMultiprocessors_AreNamed) {
  const Task task = scale_task(1'000'000);
  EXPECT_EQ(first_finding_on_device(task, 50, plan_of("132", "128")),
            "A launch has 132 blocks of 128 threads, 6.25 % of the threads that the device runs at "
            "a time. Divide the work among more threads.");
  const std::string near_its_limit = first_finding_on_device(task, 3, plan_of("132", "128"));
  EXPECT_EQ(near_its_limit.find("of the threads"), std::string::npos) << near_its_limit;
}

LaneAccess lane_access(bool is_shared, std::optional<std::int64_t> stride, std::int64_t depth = 1) {
  LaneAccess access;
  access.is_shared = is_shared;
  access.line = 14;
  access.depth = depth;
  access.width = 4;
  access.covered = 4;
  access.stride = stride;
  return access;
}

TEST(Profile, AddressesFarApart_AreTheFirstFinding) {
  const Task task = scale_task(1'000'000);
  const Plan plan = plan_of("4000", "256");
  EXPECT_EQ(first_finding_on_device(task, 50, plan, {.accesses = {lane_access(false, 256)}}),
            "The load at line 14 is not coalesced: the addresses of neighbouring threads are 256 "
            "bytes apart, so a warp uses 12.5 % of each 32-byte sector of global memory at a time. "
            "Let neighbouring threads use neighbouring elements.");
  EXPECT_THAT(
      first_finding_on_device(task, 50, plan, {.accesses = {lane_access(false, std::nullopt)}}),
      testing::HasSubstr("known only at run time. If it is 32 bytes or more, a warp uses 12.5 %"));
  EXPECT_THAT(first_finding_on_device(task, 50, plan, {.accesses = {lane_access(true, 128)}}),
              testing::StartsWith("The load at line 14 of shared memory has 32-way bank conflicts: "
                                  "the addresses of neighbouring threads are 128 bytes apart."));
}

TEST(Profile, StridesThatCostLittle_AreNotTheFirstFinding) {
  const Task task = scale_task(1'000'000);
  const struct {
    const char* why;
    double time_us;
    const char* block;
    std::vector<LaneAccess> accesses;
  } cases[] = {
      {"most of the bandwidth is used", 3, "256", {lane_access(false, 256)}},
      {"warps do not lie along x", 50, "16", {lane_access(false, 256), lane_access(true, 128)}},
      {"a deeper loop has coalesced accesses",
       50,
       "256",
       {lane_access(false, 256, 0), lane_access(false, 4, 1)}},
      {"a deeper loop has no bank conflicts",
       50,
       "256",
       {lane_access(true, 128, 0), lane_access(true, 4, 2)}},
  };
  for (const auto& one : cases) {
    const std::string found = first_finding_on_device(task, one.time_us, plan_of("4000", one.block),
                                                      {.accesses = one.accesses});
    EXPECT_EQ(found.find("neighbouring threads are"), std::string::npos)
        << one.why << ": " << found;
  }
}

TEST(Profile, LoopThatLoadsForEachMultiplication_ShouldUseTiles) {
  Task task = scale_task(1'000'000);
  task.flops = "2048 * n";
  CodeBlock loop = loop_block(9, 10);
  loop.global = 8;
  loop.multiply_adds = 4;
  const Plan plan = plan_of("4000", "256");
  EXPECT_EQ(first_finding_on_device(task, 500, plan, {.blocks = {loop}}),
            "The innermost loop at lines 9 to 10 has 8 global-memory instructions for 4 "
            "multiply-adds, and the task has 256 operations for each byte that it must move. Load "
            "tiles of the data into shared memory and registers, and use each value many times.");
  loop.multiply_adds = 32;
  const std::string found = first_finding_on_device(task, 500, plan, {.blocks = {loop}});
  EXPECT_EQ(found.find("global-memory instructions"), std::string::npos) << found;
}

TEST(Profile, ShortLaunchesThatUseTheMemory_AreNotLaunchBound) {
  const Task task = scale_task(1'000'000);
  const std::string found = first_finding_on_device(task, 4, plan_of("4000", "256", 2));
  EXPECT_EQ(found.find("starting kernels"), std::string::npos) << found;
}

/// 17 µs for each launch, as measured on a slow host.
TEST(Profile, SlowLaunchesOfKernelsWithoutLoops_AreLaunchBound) {
  const Task task = scale_task(100'000);
  CodeBlock straight = loop_block(4, 5);
  straight.is_loop = false;
  straight.global = 2;
  const Plan plan = plan_of("400", "256", 8);
  EXPECT_THAT(first_finding_on_device(task, 136, plan, {.blocks = {straight}}),
              testing::StartsWith("The call takes 136 µs in 8 launches, 17 µs each: starting"));
  const std::vector<std::pair<Plan, CodeBlock>> others = {{plan, loop_block(4, 5)},
                                                          {plan_of("40000", "256", 8), straight},
                                                          {plan_of("400", "256"), straight}};
  for (const auto& [other, block] : others) {
    const std::string found = first_finding_on_device(task, 136, other, {.blocks = {block}});
    EXPECT_EQ(found.find("starting kernels"), std::string::npos) << found;
  }
}

TEST(Profile, SpillsOfAKernelNearItsLimit_AreNotTheFirstFinding) {
  const Task task = scale_task(1'000'000);
  const std::string found = first_finding_on_device(task, 3, plan_of("4000", "256"),
                                                    {.kernels = {{"scale", 255, 0, 64, 60, 56}}});
  EXPECT_EQ(found.find("spilled"), std::string::npos) << found;
}

TEST(Profile, Facts_HaveTheAccesses) {
  const Task task = scale_task(1'000'000);
  const Verdict verdict = timed_verdict(50);
  const Plan plan = plan_of("4000", "256");
  const Value facts =
      profile_facts({.task = task,
                     .verdict = verdict,
                     .device = device(),
                     .code = {.accesses = std::vector<LaneAccess>(40, lane_access(true, 8))},
                     .plan = &plan});
  const Value::Array& accesses = facts.find("accesses")->as_array();
  ASSERT_EQ(accesses.size(), 16u);
  EXPECT_EQ(*accesses[0].find("bank_conflicts"), Value(2));
}

TEST(Profile, ManyShortLaunches_AreTheFirstFinding) {
  const Task task = scale_task(1'000'000);
  const Verdict verdict = timed_verdict(20);
  const Plan plan = plan_of("4000", "256", 8);
  EXPECT_EQ(first_finding({.task = task, .verdict = verdict, .device = device(), .plan = &plan}),
            "The call takes 20 µs in 8 launches, 2.5 µs each: starting kernels takes most of the "
            "time. Merge the kernels.");
}

LaunchCounters counted(double us, double read, double written) {
  return launch_counters_of(Value::map({{"seconds", us * 1e-6},
                                        {"memory_read_bytes", read},
                                        {"memory_written_bytes", written},
                                        {"load_sectors", 3200},
                                        {"load_requests", 100}}));
}

TEST(Profile, TrafficAtTheLimit_IsTheFirstFindingWithItsCause) {
  const Task task = scale_task(1'000'000);
  const Verdict verdict = timed_verdict(30);
  const Plan plan = plan_of("4000", "256", 2);
  ProfileInput input = {.task = task, .verdict = verdict, .device = device(), .plan = &plan};
  input.counters.launches = {counted(4, 8e6, 4e6), counted(4, 8e6, 4e6)};
  const ProfileFigures figures = profile_figures(input);
  EXPECT_EQ(figures.moved_bytes, 24e6);
  EXPECT_NEAR(figures.moved_bytes_per_second, 3e12, 1);
  EXPECT_NEAR(figures.moved_share, 3 / 3.35, 1e-9);
  EXPECT_EQ(
      first_finding(input),
      "Counters: a call moves 24 MB between memory and cache, 3 times the least, at 89.6 % of "
      "the memory's bandwidth. This traffic limits it: merge kernels, so that data between "
      "them stays in registers.");
  const Plan single = plan_of("4000", "256");
  input.plan = &single;
  input.counters.launches = {counted(8, 16e6, 8e6)};
  EXPECT_THAT(first_finding(input), testing::HasSubstr("read each element once"));
}

/// All findings of a kernel with one launch that takes this time and has these counters.
std::vector<std::string> findings_with(double time_us, const LaunchCounters& launch) {
  const Task task = scale_task(1'000'000);
  const Verdict verdict = timed_verdict(time_us);
  const Plan plan = plan_of("4000", "256");
  ProfileInput input = {.task = task, .verdict = verdict, .device = device(), .plan = &plan};
  input.counters.launches = {launch};
  return profile_findings(input, profile_figures(input), 9);
}

TEST(Profile, TrafficOfTheLeastBytes_IsNoFinding) {
  for (const std::string& text : findings_with(10, counted(4, 4.1e6, 4e6)))
    EXPECT_THAT(text, testing::Not(testing::HasSubstr("times the least")));
}

TEST(Profile, ScatteredLoads_AreCounted) {
  EXPECT_THAT(findings_with(100, counted(90, 4e6, 4e6)),
              testing::Contains(testing::HasSubstr("touches 32 sectors of 32 bytes on average")));
}

TEST(Profile, CountersThatAreMissingOrSenseless_AreNil) {
  const Value value = facts_of_launch(
      launch_counters_of(Value::map({{"seconds", -1}, {"memory_read_bytes", "many"}})));
  for (const auto& [name, one] : value.as_map()) EXPECT_EQ(one, Value()) << name;
  EXPECT_FALSE(memory_bytes({}).has_value());
}

TEST(Profile, Spills_AreTheFirstFinding) {
  const Task task = scale_task(1'000'000);
  const Verdict verdict = timed_verdict(50);
  const Plan plan = plan_of("4000", "256");
  EXPECT_EQ(
      first_finding({.task = task,
                     .verdict = verdict,
                     .device = device(),
                     .code = {.kernels = {{"scale", 255, 0, 64, 60, 56}}},
                     .plan = &plan}),
      "Kernel 'scale' keeps spilled registers (116 bytes of loads and stores) in local memory, "
      "with 255 registers for each thread. Use fewer live values for each thread.");
}

TEST(Profile, UnknownDevice_HasFactsWithoutShares) {
  const Task task = scale_task(1000);
  const Verdict verdict = timed_verdict(5);
  const Value facts = profile_facts({.task = task, .verdict = verdict, .device = Value::map()});
  EXPECT_TRUE(facts.find("memory_share")->is_nil());
  EXPECT_TRUE(facts.find("cycles_per_output")->is_nil());
  EXPECT_EQ(facts.find("findings")->as_array().size(), 0u);
}

}  // namespace
}  // namespace hone
