// Modules with host code on a device: when the baseline is timed, and when its time is accepted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

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
    s.submission.can_freeze = true;
  }
  std::size_t at(const std::string& event) const {
    const auto& events = s.world.events;
    return static_cast<std::size_t>(std::find(events.begin(), events.end(), event) -
                                    events.begin());
  }

  test::FakeSession s;
};

TEST_F(ModulesBesideADevice, NothingElseOnTheDevice_SubmissionIsNotEnded) {
  s.judge();
  ASSERT_TRUE(s.judgement.verdict.speedup);
  EXPECT_NEAR(s.speedup().value, 1, 1e-9);
  EXPECT_GT(s.workbench.checks, 0);
  EXPECT_EQ(s.world.count("submission ends"), 0);
}

TEST_F(ModulesBesideADevice, Rounds_AreTimedOnceNoContextIsBeingMade) {
  for (const bool can_freeze : {true, false}) {
    s.submission.can_freeze = can_freeze;
    s.world.events.clear();
    s.judge();
    EXPECT_LT(at("device is exclusive"), at("baseline runs 4"));
    s.world.events.erase(
        s.world.events.begin(),
        std::find(s.world.events.begin(), s.world.events.end(), "submission ends"));
    if (!can_freeze) {
      EXPECT_LT(at("device is exclusive"), at("baseline runs 4"));
    }
  }
}

TEST_F(ModulesBesideADevice, Submission_IsFrozenInTheBaselinesRounds) {
  s.judge();
  bool frozen = false;
  for (const std::string& event : s.world.events) {
    if (event == "submission freezes") frozen = true;
    if (event == "submission thaws") frozen = false;
    if (event == "baseline runs 4") {
      EXPECT_TRUE(frozen);
    } else if (event == "submission runs 4") {
      EXPECT_FALSE(frozen);
    }
  }
}

TEST_F(ModulesBesideADevice, Contention_EndsTheSubmissionAndTheFasterBaselineCounts) {
  s.workbench.slowdown = [] { return 2.0; };
  s.baseline.change = [this](Order order, int, Round& round) {
    if (order == Order::kRun && s.world.count("submission ends") == 0) round.seconds *= 2;
  };
  s.judge();
  EXPECT_EQ(s.world.count("submission ends"), 1);
  EXPECT_NEAR(s.speedup().value, 1, 1e-9);
}

TEST_F(ModulesBesideADevice, ConfirmationRun_TimesTheBaselineAgain) {
  s.settings.swapped = true;
  s.judge();
  EXPECT_EQ(s.world.count("submission ends"), 1);
  EXPECT_NEAR(s.speedup().value, 1, 1e-9);
}

TEST_F(ModulesBesideADevice, NoControlGroup_BaselineIsTimedBeforeTheSubmissionAndAfterItsEnd) {
  s.submission.can_freeze = false;
  s.judge();
  EXPECT_LT(at("baseline runs 4"), at("submission runs 4"));
  EXPECT_EQ(s.world.count("submission ends"), 1);
  EXPECT_EQ(s.world.events.back(), "baseline runs 4");
  EXPECT_NEAR(s.speedup().value, 1, 1e-9);
}

TEST_F(ModulesBesideADevice, BaselineDrifts_TheFasterOneCountsWithAFlag) {
  s.submission.can_freeze = false;
  s.baseline.change = [this](Order order, int, Round& round) {
    if (order == Order::kRun && s.world.count("submission ends") == 0) round.seconds *= 1.5;
  };
  s.judge();
  EXPECT_NEAR(s.speedup().value, 1, 1e-9);
  EXPECT_THAT(s.speedup().flags, Contains("baseline_drifted"));
}

}  // namespace
}  // namespace hone
