// Modules with host code on a device: when the baseline is timed, and which of its times count.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "judge/timing/fakes.hpp"
#include "judge/timing/processes/process_protocol.hpp"

namespace hone {
namespace {

using testing::Contains;

class ModulesBesideADevice : public testing::Test {
 protected:
  ModulesBesideADevice() : s(Placement::kDevice) {
    s.settings.single_call_pairs = 0;
    s.submission.is_module = s.baseline.is_module = s.reference.is_module = true;
  }
  bool has_ended() const { return s.world.count("submission ends") > 0; }
  /// Changes the baseline's rounds before the submission's.
  void slow_the_first_rounds(double factor) {
    s.baseline.change = [this, factor](Order order, int, Round& round) {
      if (order == Order::kRun && !has_ended()) round.seconds *= factor;
    };
  }

  test::FakeSession s;
};

TEST_F(ModulesBesideADevice, Baseline_IsTimedBeforeTheSubmissionAndAfterItsEnd) {
  s.judge();
  std::string order;  // of blocks of rounds, and of the end
  for (const std::string& event : s.world.events) {
    const char part = event == "baseline runs 4"     ? 'a'
                      : event == "submission runs 4" ? 'b'
                      : event == "submission ends"   ? '.'
                                                     : ' ';
    if (part != ' ' && (order.empty() || order.back() != part)) order += part;
  }
  EXPECT_EQ(order, "ab.a");
  EXPECT_NEAR(s.speedup().value, 1, 1e-9);
  EXPECT_TRUE(s.speedup().flags.empty());
}

TEST_F(ModulesBesideADevice, OutputsOfTimedRounds_AreCheckedAfterTheEnd) {
  s.workbench.has_mismatch = [this] { return has_ended(); };
  s.judge();
  EXPECT_EQ(s.judgement.verdict.outcome, Outcome::kWrong);
}

TEST_F(ModulesBesideADevice, BaselineIsFasterAfterTheEnd_ThatCountsWithAFlag) {
  slow_the_first_rounds(1.5);
  s.judge();
  EXPECT_NEAR(s.speedup().value, 1, 1e-9);
  EXPECT_THAT(s.speedup().flags, Contains("baseline_drifted"));
}

TEST_F(ModulesBesideADevice, BaselineIsALittleFasterAfterTheEnd_BothCount) {
  slow_the_first_rounds(1.04);
  s.judge();
  EXPECT_GE(s.speedup().value, 1);
  EXPECT_LE(s.speedup().value, 1.04);
  EXPECT_TRUE(s.speedup().flags.empty());
}

TEST_F(ModulesBesideADevice, BaselineIsSlowerAfterTheEnd_TheFirstRoundsCountWithAFlag) {
  slow_the_first_rounds(1 / 1.5);
  s.submission.call_s /= 1.5;
  s.judge();
  EXPECT_NEAR(s.speedup().value, 1, 0.02);
  EXPECT_THAT(s.speedup().flags, Contains("baseline_drifted"));
}

}  // namespace
}  // namespace hone
