// The correctness check: its order, what it reveals about hidden shapes, and which call is traced.
#include "judge/checking/checker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "judge/timing/fakes.hpp"
#include "model/caught.hpp"

namespace hone {
namespace {

using testing::ElementsAre;

/// One family of inputs and three shapes: the shown one, a hidden one, the timed one.
class CheckerTest : public testing::Test {
 protected:
  explicit CheckerTest(Placement placement = Placement::kCanaries) : s(placement) {
    s.settings.measure = false;
  }

  test::FakeSession s;
};

class CheckerOnADevice : public CheckerTest {
 protected:
  CheckerOnADevice() : CheckerTest(Placement::kDevice) {}
};

TEST_F(CheckerTest, EachTrial_IsFrozenLoadedRunAndAnswered) {
  s.judge();
  EXPECT_EQ(s.judgement.verdict.outcome, Outcome::kCorrect);
  EXPECT_FALSE(s.judgement.verdict.speedup);
  auto events = s.world.events;
  ASSERT_EQ(events.size(), 1u + 3 * 6);
  events.resize(7);
  EXPECT_THAT(events, ElementsAre("stage check", "inputs are made", "submission freezes",
                                  "inputs are loaded", "submission runs 1", "reference is checked",
                                  "outputs are compared"));
}

TEST_F(CheckerTest, WrongShownShape_IsNamed) {
  s.workbench.has_mismatch = [] { return true; };
  s.judge();
  EXPECT_EQ(s.judgement.verdict.reason, "output y is wrong for n=8");
  EXPECT_EQ(s.judgement.verdict.stage, VerdictStage::kCheck);
  EXPECT_EQ(s.judgement.verdict.mismatch->wrong, 3);
  EXPECT_EQ(s.judgement.verdict.mismatch->total, 8);
  EXPECT_EQ(s.judgement.verdict.caught, "");
}

TEST_F(CheckerTest, WrongHiddenShape_TellsNeitherPlaceNorSize) {
  s.workbench.has_mismatch = [this] { return s.world.count("submission runs 1") == 2; };
  s.judge();
  EXPECT_EQ(s.judgement.verdict.reason, "output y is wrong for a hidden shape");
  EXPECT_EQ(s.judgement.verdict.mismatch->shape, "hidden");
  EXPECT_TRUE(s.judgement.verdict.mismatch->index.empty());
  EXPECT_EQ(s.judgement.verdict.mismatch->wrong, 375);
  EXPECT_EQ(s.judgement.verdict.mismatch->total, 1000);
  EXPECT_EQ(s.judgement.verdict.caught, caught::kWrongWhenHidden);
}

TEST_F(CheckerTest, LastTrial_IsTraced) {
  s.submission.traced = R"({"kernels": {"k": 1}, "operators": {}})";
  s.judge();
  EXPECT_EQ(s.world.count("submission is traced"), 1);
  EXPECT_EQ(s.world.events.back(), "submission is traced");
  ASSERT_TRUE(s.judgement.verdict.work);
  EXPECT_EQ(s.judgement.verdict.work->kernels.at("k"), 1);
}

TEST_F(CheckerTest, CallOverOneSecond_IsTracedOnlyIfTheTaskAsks) {
  s.submission.traced = R"({"kernels": {}, "operators": {}})";
  s.submission.call_s = 1.5;
  s.judge();
  EXPECT_EQ(s.world.count("submission is traced"), 0);
  s.task.own_kernels = "required";
  s.judge();
  EXPECT_EQ(s.world.count("submission is traced"), 1);
}

TEST_F(CheckerTest, ExceptionWhileTraced_DoesNotCount) {
  s.submission.traced = R"({"kernels": {}, "operators": {}})";
  s.submission.change = [](Order order, int, Round& round) {
    if (order == Order::kObserved) round.ending = Ending::kException;
  };
  s.judge();
  EXPECT_EQ(s.judgement.verdict.outcome, Outcome::kCorrect);
  EXPECT_FALSE(s.judgement.verdict.work);
}

TEST_F(CheckerOnADevice, Trials_AreLoadedTogetherThenRun) {
  s.judge();
  EXPECT_THAT(s.world.events,
              ElementsAre("stage check", "inputs are made", "inputs are made", "inputs are made",
                          "submission freezes", "inputs are loaded", "inputs are loaded",
                          "inputs are loaded", "submission is checked", "submission is checked",
                          "submission is checked", "reference is checked", "reference is checked",
                          "reference is checked", "outputs are compared", "outputs are compared",
                          "outputs are compared"));
}

TEST_F(CheckerOnADevice, OutputsChangedInAnotherTrialsRound_WroteOutside) {
  // Outputs of the second trial change in the round of the first.
  s.submission.seen = [this] { return std::to_string(s.world.count("submission is checked")); };
  s.judge();
  EXPECT_EQ(s.judgement.verdict.outcome, Outcome::kWrong);
  EXPECT_EQ(s.judgement.verdict.caught, caught::kWroteOutside);
}

}  // namespace
}  // namespace hone
