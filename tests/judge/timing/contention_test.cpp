// Contention: which delays are excused, which pairs are dropped, and when the device was shared.
#include "judge/timing/contention.hpp"

#include <gtest/gtest.h>

#include "judge/blame.hpp"
#include "judge/timing/fakes.hpp"

namespace hone {
namespace {

class ContentionTest : public testing::Test {
 protected:
  ContentionTest()
      : input_{fakes_.task,
               1,
               fakes_.settings,
               {},
               {},
               fakes_.submission,
               fakes_.workbench,
               {},
               [this] { return fakes_.world.now_s; }},
        contention_(input_) {}

  test::FakeSession fakes_{Placement::kDevice};
  SessionInput input_;
  Contention contention_;
  Timings timings_;
};

TEST_F(ContentionTest, DelayOfTheBaseline_IsAlwaysExcused) {
  Round round;
  round.delayed_seconds = 2e-3;
  fakes_.task.threads = 4;
  EXPECT_EQ(contention_.excused_s(true, round), 2e-3);
}

TEST_F(ContentionTest, DelayOfTheSubmission_IsExcusedWithOneThread) {
  Round round;
  round.delayed_seconds = 2e-3;
  EXPECT_EQ(contention_.excused_s(false, round), 2e-3);
  fakes_.task.threads = 2;
  EXPECT_EQ(contention_.excused_s(false, round), 0);
}

TEST_F(ContentionTest, MachineStoodStill_PairIsDroppedOnce) {
  Round round;
  round.halted_seconds = 0.05;
  contention_.note(round);
  EXPECT_FALSE(*contention_.must_drop_pair(timings_));
  round.halted_seconds = 0.2;
  contention_.note(round);
  EXPECT_TRUE(*contention_.must_drop_pair(timings_));
  EXPECT_FALSE(*contention_.must_drop_pair(timings_));
}

TEST_F(ContentionTest, ThrottledDevice_DropsThreePairsThenSetsTheFlag) {
  fakes_.workbench.is_throttled = [] { return true; };
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(*contention_.must_drop_pair(timings_));
  EXPECT_FALSE(timings_.throttled);
  EXPECT_FALSE(*contention_.must_drop_pair(timings_));
  EXPECT_TRUE(timings_.throttled);
}

TEST_F(ContentionTest, SlowDeviceInOneCheck_WasShared) {
  double slowdown = 1.03;
  fakes_.workbench.slowdown = [&slowdown] { return slowdown; };
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(contention_.check_device(2e-3));
  EXPECT_FALSE(contention_.device_was_shared());
  slowdown = 1.16;
  ASSERT_TRUE(contention_.check_device(2e-3));
  EXPECT_TRUE(contention_.device_was_shared());
  contention_.forget_checks();
  EXPECT_FALSE(contention_.device_was_shared());
}

TEST_F(ContentionTest, DeviceAwayForOverAMillisecond_WasShared) {
  fakes_.workbench.away_s = 0.9e-3;
  ASSERT_TRUE(contention_.check_device(2e-3));
  EXPECT_FALSE(contention_.device_was_shared());
  fakes_.workbench.away_s = 1.1e-3;
  ASSERT_TRUE(contention_.check_device(2e-3));
  EXPECT_TRUE(contention_.device_was_shared());
}

TEST_F(ContentionTest, DeviceSlowerByNinePercentInAllChecks_WasShared) {
  fakes_.workbench.slowdown = [] { return 1.09; };
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(contention_.check_device(2e-3));
  EXPECT_TRUE(contention_.device_was_shared());
}

TEST_F(ContentionTest, OtherWorkOnTheDevice_IsAFault) {
  input_.host.is_device_still = [] { return false; };
  EXPECT_EQ(contention_.expect_still_device().ending, Ending::kFault);
  input_.host.is_device_still = [] { return true; };
  EXPECT_TRUE(passed(contention_.expect_still_device()));
}

}  // namespace
}  // namespace hone
