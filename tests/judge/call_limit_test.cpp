// Calls of device code that are far slower than the baseline, whose calls take 1 ms.
#include "judge/call_limit.hpp"

#include <gtest/gtest.h>

#include "judge/timing/fakes.hpp"

namespace hone {
namespace {

constexpr double kSlowSeconds = 2;

class SlowCalls : public testing::Test {
 protected:
  explicit SlowCalls(Placement placement = Placement::kDevice) : s(placement) {
    s.task.run_seconds = 60;
    s.settings.measure = false;
    s.submission.call_s = kSlowSeconds;
  }

  /// Calls of 2 s are allowed, and calls of 2.6 s are not.
  void expect_limit_of_2500_ms() {
    s.judge();
    EXPECT_EQ(s.judgement.ending, Ending::kDone) << s.judgement.message;
    s.submission.call_s = 2.6;
    s.judge();
    EXPECT_EQ(s.judgement.message,
              "over 2.5 s for one call (at the timed shape the baseline takes 1 ms)");
  }

  test::FakeSession s;
};

class SlowCallsOnTheHost : public SlowCalls {
 protected:
  SlowCallsOnTheHost() : SlowCalls(Placement::kCanaries) {}
};

TEST_F(SlowCalls, FarSlowerThanTheBaseline_IsTimedOut) {
  s.judge();
  EXPECT_EQ(s.judgement.ending, Ending::kTimedOut);
  EXPECT_EQ(s.judgement.culprit, Culprit::kSubmission);
  EXPECT_EQ(s.judgement.message,
            "over 1 s for one call (at the timed shape the baseline takes 1 ms)");
}

TEST_F(SlowCalls, UnderOneSecond_IsAllowed) {
  s.submission.call_s = 0.99;
  s.judge();
  EXPECT_EQ(s.judgement.ending, Ending::kDone) << s.judgement.message;
}

TEST_F(SlowCalls, WithinTheMultiple_IsAllowed) {
  s.task.slowdown_max = 2500;
  expect_limit_of_2500_ms();
}

TEST_F(SlowCalls, TasksOwnLimitIsShorter_HasItsReason) {
  s.task.run_seconds = 0.5;
  s.judge();
  EXPECT_EQ(s.judgement.ending, Ending::kTimedOut);
  EXPECT_EQ(s.judgement.message, "");
}

TEST_F(SlowCalls, SlowdownMaxIsZero_AreAllowed) {
  s.task.slowdown_max = 0;
  s.judge();
  EXPECT_EQ(s.judgement.ending, Ending::kDone) << s.judgement.message;
}

TEST_F(SlowCalls, SubmissionHasHostCode_HasOnlyTheTasksLimit) {
  s.submission.is_module = true;
  s.judge();
  EXPECT_EQ(s.judgement.ending, Ending::kDone) << s.judgement.message;
}

TEST_F(SlowCalls, ShapeLargerThanTheTimedOne_HasOnlyTheTasksLimit) {
  std::swap(s.task.timed, s.task.shown.at(0));
  ASSERT_LT(s.task.timed.begin()->second, s.task.shown.at(0).begin()->second);
  s.judge();
  EXPECT_EQ(s.judgement.ending, Ending::kTimedOut);
  EXPECT_GT(s.world.count("submission is checked"), 1) << "the larger shape comes first";
}

TEST_F(SlowCalls, FirstCallThatPrepares_MayTakeLonger) {
  s.settings.added_first_seconds = 3;
  s.judge();
  EXPECT_EQ(s.judgement.ending, Ending::kTimedOut);
  EXPECT_EQ(s.world.count("submission is checked"), 2) << "the second one is over its limit";
}

TEST_F(SlowCalls, CallsOfAPlanWithOperators_MayTakeLonger) {
  s.settings.added_call_seconds = 1.5;
  expect_limit_of_2500_ms();
}

TEST_F(SlowCalls, MeasuredRound_HasTheLimitOfItsCalls) {
  s.settings.measure = true;
  s.submission.call_s = 1e-3;
  s.submission.change = [](Order, int number, Round& round) {
    if (number == 1) round.seconds = 20;
  };
  s.judge();
  EXPECT_EQ(s.judgement.message,
            "over 4 s for 4 calls (at the timed shape the baseline takes 4 ms)");
}

TEST_F(SlowCallsOnTheHost, AnyMultiple_IsAllowed) {
  s.judge();
  EXPECT_EQ(s.judgement.ending, Ending::kDone) << s.judgement.message;
}

}  // namespace
}  // namespace hone
