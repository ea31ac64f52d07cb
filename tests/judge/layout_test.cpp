// Where tensors lie: aligned between canaries, or against a guard page to the element.
#include "judge/layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "judge/session.hpp"

namespace hone {
namespace {

Task sample() {
  Task task;
  task.tensors = {{"x", Role::kIn, DType::kF32, {"n"}}, {"y", Role::kOut, DType::kF32, {"n"}}};
  task.dims = {"n"};
  task.timed = {{"n", 1000}};
  task.shown = {{{"n", 8}}};
  task.hidden = {{{{"n", {1, 99}}}}};
  task.families = {{"normal", {}, {}},
                   {"cancel", {}, {}},
                   {"scaled", {}, {}},
                   {"ties", {}, {}},
                   {"sparse", {}, {}}};
  return task;
}

TEST(Layout, TheExactFormOfEveryFloatOutputIsDouble) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
    Task task = sample();
    for (Tensor& tensor : task.tensors) tensor.dtype = dtype;
    const auto exact = lay_out(task, {{"n", 100}}, 1, Placement::kCanaries, true);
    const auto plain = lay_out(task, {{"n", 100}}, 1, Placement::kCanaries, false);
    ASSERT_TRUE(exact && plain);
    EXPECT_EQ(exact->calls[0][0].bytes, 100 * dtype_size(dtype));
    EXPECT_EQ(exact->calls[0][1].bytes, 800u);
    EXPECT_EQ(plain->calls[0][1].bytes, 100 * dtype_size(dtype));
  }
}

void expect_canaries(const Region& r, std::uint64_t begin, std::uint64_t bytes) {
  EXPECT_EQ(r.begin, begin);
  EXPECT_EQ(r.payload % bytes, 0u);
  EXPECT_GE(r.payload - r.begin, bytes);
  EXPECT_GE(r.end - r.payload - r.bytes, bytes);
}

TEST(Layout, CanariesStandOnBothSides) {
  auto layout = lay_out(sample(), {{"n", 1001}}, 3, Placement::kCanaries, false);
  ASSERT_TRUE(layout);
  std::uint64_t last = 0;
  for (const auto& call : layout->calls) {
    for (const Region& r : call) {
      expect_canaries(r, last, 64);
      last = r.end;
    }
  }
  EXPECT_EQ(layout->total, last);
  EXPECT_TRUE(layout->guards.empty());
}

TEST(Layout, OnADeviceWhatIsWrittenLiesTogether) {
  auto layout = lay_out(sample(), {{"n", 1001}}, 3, Placement::kDevice, false);
  ASSERT_TRUE(layout);
  std::uint64_t last = 0;
  for (const std::size_t tensor : {0u, 1u}) {
    if (tensor == 1) {
      EXPECT_EQ(layout->outputs_begin, last);
    }
    for (const auto& call : layout->calls) {
      expect_canaries(call[tensor], last, 256);
      last = call[tensor].end;
    }
  }
  EXPECT_EQ(layout->outputs_end, last);
  EXPECT_EQ(layout->total, last);
}

TEST(Layout, GuardsStandRightBehindTheLastElement) {
  Task task = sample();
  for (const std::int64_t alignment : {0, 64}) {
    task.alignment = alignment;
    auto layout = lay_out(task, {{"n", 1001}}, 1, Placement::kGuards, false);
    ASSERT_TRUE(layout);
    ASSERT_EQ(layout->guards.size(), 2u);
    const Region& r = layout->calls[0][0];
    EXPECT_EQ(layout->guards[0].at, r.end);
    EXPECT_EQ(r.end % 4096, 0u);
    if (alignment == 0) {
      EXPECT_EQ(r.payload + r.bytes, r.end);
    } else {
      EXPECT_EQ(r.payload % 64, 0u);
    }
  }
}

TEST(Layout, ExactFormHasDoublesForOutputs) {
  auto layout = lay_out(sample(), {{"n", 10}}, 1, Placement::kCanaries, true);
  EXPECT_EQ(layout->calls[0][0].bytes, 40u);
  EXPECT_EQ(layout->calls[0][1].bytes, 80u);
}

TEST(Trials, CoverShapesAndFamilies) {
  const Task task = sample();
  const auto trials = plan_trials(task, 5);
  ASSERT_EQ(trials.size(), 15u);  // five families on each of three small shapes
  std::set<std::size_t> families;
  for (std::size_t i = 0; i < 5; ++i) families.insert(trials[i].family);
  EXPECT_EQ(families.size(), 5u);
  EXPECT_EQ(trials[0].dims.at("n"), 8);
  EXPECT_TRUE(trials[5].hidden);
  EXPECT_EQ(shape_text(trials[5]), "a hidden shape");
  EXPECT_EQ(shape_text(trials[10]), "n=1000");
  EXPECT_EQ(trials[10].placement, Placement::kCanaries);
}

TEST(Trials, HiddenShapesAreDrawnAnew) {
  const Task task = sample();
  std::set<std::int64_t> drawn;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const std::int64_t n = plan_trials(task, seed)[5].dims.at("n");
    EXPECT_TRUE(n >= 1 && n <= 99);
    EXPECT_EQ(n, plan_trials(task, seed)[5].dims.at("n"));
    drawn.insert(n);
  }
  EXPECT_GT(drawn.size(), 20u);
}

TEST(TimedFamilies, AnyBlock_HasEachFamilyOnce) {
  const Task task = sample();
  const std::size_t count = task.families.size();
  ASSERT_EQ(timed_family_count(task, {}), count);
  std::set<std::vector<std::size_t>> orders;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (std::size_t block = 0; block < 3; ++block) {
      std::vector<std::size_t> families = timed_families(task, seed, block * count, count, {});
      orders.insert(families);
      std::sort(families.begin(), families.end());
      for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(families[i], i);
    }
  }
  EXPECT_GT(orders.size(), 20u) << "the order is secret";
}

#if defined(HONE_TEST_BUILD)
TEST(RoundCalls, FillARoundButNotTheMemory) {
  const Task task = sample();
  MeasureSettings settings;
  EXPECT_EQ(round_calls(task, settings, 1e-3), 5u);  // 4 ms, and as often each of 5 families
  settings.defences = *Defences::without({"mixed_families"});
  EXPECT_EQ(round_calls(task, settings, 1e-3), 4u);
  EXPECT_EQ(round_calls(task, settings, 1.0), 1u);
  EXPECT_EQ(round_calls(task, settings, 0), kCallsMax);
}
#endif

TEST(Physics, NoCoreMovesATerabyteInASecond) {
  const Task task = sample();  // 8000 bytes a call
  EXPECT_FALSE(beyond_physics(task, 1e-6, 128 * 6e9));
  EXPECT_FALSE(beyond_physics(task, 2e-8, 128 * 6e9));
  EXPECT_TRUE(beyond_physics(task, 1e-9, 128 * 6e9));
}

/// Where a round that does nothing took longer than the calls, nobody is a cheat and nobody gains.
TEST(Physics, ACallCountsForNoLessThanItsBytesTake) {
  const Task task = sample();
  const double least = least_seconds(task, 8e9);
  EXPECT_DOUBLE_EQ(least, 1e-6);
  const Floor busy{50e-6, 40e-6, 0};
  EXPECT_DOUBLE_EQ(per_call(45e-6, busy, 10, least), least);
  EXPECT_DOUBLE_EQ(per_call(150e-6, busy, 10, least), 10e-6);
}

}  // namespace
}  // namespace hone
