// The floor, the time of a call, and the number of calls in a round.
#include "judge/timing/round_times.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "channel/control.hpp"
#include "judge/sample_task.hpp"
#include "judge/timing/round_size.hpp"

namespace hone {
namespace {

TEST(Floor, OfRounds_IsTheMedianAndTheLeast) {
  const Floor floor = floor_of({7, 5, 6});
  EXPECT_EQ(floor.seconds, 6);
  EXPECT_EQ(floor.least, 5);
}

TEST(Floor, EqualRounds_HaveNoSpread) {
  EXPECT_EQ(floor_of(std::vector<double>(9, 3e-5)).spread, 0);
}

TEST(Floor, Spread_IsTwiceTheInterquartileRange) {
  EXPECT_EQ(floor_of({1, 2, 3, 4, 5, 6, 7, 8, 9}).spread, 2 * (7 - 3));
  // Two spikes do not count.
  EXPECT_EQ(floor_of({5, 5, 5, 5, 5, 5, 5, 5000, 9000}).spread, 0);
}

#if defined(HONE_TEST_BUILD)
TEST(RoundCalls, AnyCallTime_FillsTheRoundWithinTheMemory) {
  const Task task = test::sample_task();
  MeasureSettings settings;
  EXPECT_EQ(round_calls(task, settings, 1e-3), 5u);  // 4 ms, and as often each of 5 families
  settings.defences = *Defences::without({"mixed_families"});
  EXPECT_EQ(round_calls(task, settings, 1e-3), 4u);
  EXPECT_EQ(round_calls(task, settings, 1.0), 1u);
  EXPECT_EQ(round_calls(task, settings, 0), kCallsMax);
}
#endif

TEST(Physics, OneNanosecondForEightKilobytes_IsBeyondACore) {
  const Task task = test::sample_task();  // 8000 bytes a call
  EXPECT_FALSE(beyond_physics(task, 1e-6, 128 * 6e9));
  EXPECT_FALSE(beyond_physics(task, 2e-8, 128 * 6e9));
  EXPECT_TRUE(beyond_physics(task, 1e-9, 128 * 6e9));
}

TEST(Physics, CallBelowTheFloor_CountsForTheTimeOfItsBytes) {
  const Task task = test::sample_task();
  const double least = least_seconds(task, 8e9);
  EXPECT_DOUBLE_EQ(least, 1e-6);
  const Floor busy{50e-6, 40e-6, 0};
  EXPECT_DOUBLE_EQ(per_call(45e-6, busy, 10, least), least);
  EXPECT_DOUBLE_EQ(per_call(150e-6, busy, 10, least), 10e-6);
}

TEST(RoundCalls, SlowAnswersOnADevice_AllowFewerCalls) {
  const Task task = test::sample_task();
  Calibration baseline;
  baseline.call_seconds = 0.4e-3;
  EXPECT_EQ(round_calls(task, {}, baseline), 10u);
  baseline.answer_seconds = 8e-3;  // four rounds of 4 ms have time for two
  EXPECT_EQ(round_calls(task, {}, baseline), 2u);
  baseline.answer_seconds = 1;
  EXPECT_EQ(round_calls(task, {}, baseline), 1u);
}

}  // namespace
}  // namespace hone
