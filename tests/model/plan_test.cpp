// Plans: parsing, evaluation for a shape, and mistakes with their place.
#include "model/plan.hpp"

#include <gtest/gtest.h>

#include "model/value.hpp"

namespace hone {
namespace {

Task add_relu() {
  Task task;
  task.entry = "add_relu";
  task.dims = {"n", "m"};
  task.tensors = {{"x", Role::kIn, DType::kF32, {"n"}},
                  {"out", Role::kOut, DType::kF32, {"n", "m"}}};
  task.scalars = {{"n", DType::kI64, "n", 0, 0}, {"alpha", DType::kF32, "", 0, 1}};
  task.arguments = {"x", "out", "n", "alpha"};
  return task;
}

Result<ReadyPlan> ready(const Plan& plan, const Dims& dims, const PlanLimits& limits = {}) {
  const Task task = add_relu();
  HONE_ASSIGN(const auto kernels, plan_kernels(task, {&plan}));
  return ready_plan(task, plan, kernels, dims, limits);
}

std::string mistake(const std::string& source) {
  const auto plan = parse_plan(source, add_relu(), "add_relu");
  return plan ? "no mistake" : plan.error().message;
}

TEST(Plan, Default_HasAThreadForEachElementOfTheFirstOutput) {
  const auto plan = parse_plan("__global__ void add_relu() {}\n", add_relu(), "add_relu");
  ASSERT_TRUE(plan) << plan.error().message;
  const auto at = ready(*plan, {{"n", 1000}, {"m", 3}});
  ASSERT_TRUE(at) << at.error().message;
  ASSERT_EQ(at->launches.size(), 1u);
  EXPECT_EQ(at->launches[0].grid[0], 12u);
  EXPECT_EQ(at->launches[0].grid[1], 1u);
  EXPECT_EQ(at->launches[0].block[0], 256u);
  ASSERT_EQ(at->launches[0].arguments.size(), 4u);
  EXPECT_EQ(at->launches[0].arguments[3].slot, 3);
  const auto kernels = plan_kernels(add_relu(), {&*plan});
  ASSERT_TRUE(kernels);
  EXPECT_EQ((*kernels)[0].kinds,
            (std::vector<std::uint32_t>{HONE_ARGUMENT_BUFFER, HONE_ARGUMENT_BUFFER,
                                        HONE_ARGUMENT_I64, HONE_ARGUMENT_F32}));
}

TEST(Plan, Parentheses_AreReadAnywhere) {
  for (const char* grid : {"4 * (n + 1)", "4*(n + 1)", "( (n + 1) * 4 )", "4 * ( n+1 )",
                           "(1 + n) * (2 + 2)", "((n + 1) * 4, 1)"}) {
    const auto plan = parse_plan(
        std::string("// hone: launch k grid = ") + grid + " block = (8 * (2 + 2), 1) shared = (16)",
        add_relu(), "add_relu");
    ASSERT_TRUE(plan) << grid << ": " << plan.error().message;
    const auto at = ready(*plan, {{"n", 9}, {"m", 3}});
    ASSERT_TRUE(at) << grid << ": " << at.error().message;
    EXPECT_EQ(at->launches[0].grid[0], 40u) << grid;
    EXPECT_EQ(at->launches[0].block[0], 32u) << grid;
  }
}

TEST(Plan, Directives_GiveLaunchesScratchAndArguments) {
  const auto plan = parse_plan(
      "// hone: scratch partial = 4 * ceil_div(n, 256)\n"
      "  // hone: launch blocks<float, 256> grid = (ceil_div(n, 256), m) block = 256 "
      "shared = 4 * 256 args = x, partial, n, (n + 1) * 2:i32, 0.5:f32\n"
      "// hone: launch last grid = (n + 3) / 4 block = (16, 2, 1) cluster = 2 cooperative "
      "args = partial, out, m\n"
      "template <typename T, int B> __global__ void blocks() {}\n",
      add_relu(), "add_relu");
  ASSERT_TRUE(plan) << plan.error().message;
  const auto at = ready(*plan, {{"n", 1021}, {"m", 3}});
  ASSERT_TRUE(at) << at.error().message;
  EXPECT_EQ(at->scratch_bytes, std::vector<std::uint64_t>{256});
  const ReadyLaunch& first = at->launches[0];
  EXPECT_EQ(first.grid[0], 4u);
  EXPECT_EQ(first.grid[1], 3u);
  EXPECT_EQ(first.shared_bytes, 1024u);
  EXPECT_EQ(first.arguments[1].scratch, 0);
  EXPECT_EQ(first.arguments[3].value, 2044u);
  EXPECT_EQ(first.arguments[4].value, 0x3f000000u);
  const ReadyLaunch& second = at->launches[1];
  EXPECT_EQ(second.grid[0], 256u);
  EXPECT_EQ(second.block[1], 2u);
  EXPECT_EQ(second.cluster[0], 2u);
  EXPECT_TRUE(second.cooperative);
  EXPECT_EQ(second.arguments[2].slot, -1);
  EXPECT_EQ(second.arguments[2].value, 3u) << "a dimension's name is its value";
  EXPECT_EQ(second.kernel, 1u);
}

TEST(Plan, TwoForms_HaveSeparateLaunches) {
  const std::string source =
      "// hone: plan reference\n// hone: launch fast grid = 1 block = 32\n"
      "// hone: plan exact\n// hone: launch slow grid = 2 block = 64\n";
  const auto reference = parse_plan(source, add_relu(), "reference", "reference", true);
  const auto exact = parse_plan(source, add_relu(), "exact", "exact", false);
  ASSERT_TRUE(reference) << reference.error().message;
  ASSERT_TRUE(exact) << exact.error().message;
  EXPECT_EQ(reference->launches[0].kernel, "fast");
  ASSERT_EQ(exact->launches.size(), 1u);
  EXPECT_EQ(exact->launches[0].kernel, "slow");
}

TEST(Plan, Mistakes_AreReportedWithTheirPlace) {
  EXPECT_EQ(mistake("\n// hone: lunch k grid = 1 block = 1\n"),
            "2:15: error: unknown line 'lunch'; did you mean 'launch'?");
  EXPECT_EQ(mistake("// hone: launch k block = 1"), "1:28: error: launch k: no grid");
  EXPECT_EQ(mistake("// hone: launch k grid = 1 block = (1, 2, 3, 4)"),
            "1:48: error: block: expected at most three expressions");
  EXPECT_EQ(mistake("// hone: launch k grid = 1 block = 1 args = x, outt"),
            "1:1: error: args: unknown name 'outt'; did you mean 'out'?");
  EXPECT_EQ(mistake("// hone: launch k grid = 1 block = 1 args = x:f16"),
            "1:50: error: args: found type 'f16', expected i32, i64, f32 or f64");
  EXPECT_EQ(mistake("// hone: scratch x = 4"), "1:19: error: scratch: the name 'x' is taken");
}

TEST(Plan, LaunchBeyondTheLimits_IsRefused) {
  const auto refusal = [](const std::string& launch) {
    const auto plan = parse_plan("// hone: " + launch, add_relu(), "add_relu");
    if (!plan) return plan.error().message;
    const auto at = ready(*plan, {{"n", 1000}, {"m", 70000}});
    return at ? std::string("none") : at.error().message;
  };
  EXPECT_EQ(refusal("launch k grid = n - 1000 block = 1"),
            "launch of k (line 1): grid x is 0, expected 1 to 2147483647");
  EXPECT_EQ(refusal("launch k grid = (1, m) block = 1"),
            "launch of k (line 1): grid y is 70000, expected 1 to 65535");
  EXPECT_EQ(refusal("launch k grid = 1 block = (1024, 2)"),
            "launch of k (line 1): a block of 2048 threads, expected at most 1024");
  EXPECT_EQ(refusal("launch k grid = 1 block = 1 shared = 1 << 20"),
            "launch of k (line 1): expression '1 << 20', column 3: unexpected '<'");
  EXPECT_EQ(refusal("launch k grid = 3 block = 1 cluster = 2"),
            "launch of k (line 1): the grid is not a multiple of the cluster");
  EXPECT_EQ(refusal("launch k grid = n * 9223372036854775807 block = 1"),
            "launch of k (line 1): expression 'n * 9223372036854775807', column 24: overflow");
  EXPECT_EQ(refusal("launch k grid = 1 block = 1 args = n * 10000000:i32"),
            "launch of k (line 1): argument 'n * 10000000' is 10000000000, out of range for i32");
  EXPECT_EQ(refusal("scratch s = m * 1000000\n// hone: launch k grid = 1 block = 1"),
            "scratch s has 70000000000 bytes, expected at most 8589934592 in all");
}

TEST(Plan, Value_RoundTrips) {
  const auto plan = parse_plan(
      "// hone: scratch s = n\n// hone: launch k<1> grid = n block = 32 shared = 4 cooperative "
      "args = x, s, 2:i32\n",
      add_relu(), "add_relu");
  ASSERT_TRUE(plan) << plan.error().message;
  const auto again = plan_from_value(plan_to_value(*plan));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(plan_to_value(*again), plan_to_value(*plan));
}

}  // namespace
}  // namespace hone
