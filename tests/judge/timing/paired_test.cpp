// Pairs of rounds: their order and number, dropped pairs, and checks of their outputs.
#include "judge/timing/paired.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "judge/timing/fakes.hpp"
#include "model/caught.hpp"
#include "model/flags.hpp"

namespace hone {
namespace {

using testing::Contains;
using testing::ElementsAre;

/// Rounds have four calls of 1 ms. By default a pair takes 8.1 ms.
class PairsOnTheHost : public testing::Test {
 protected:
  PairsOnTheHost() : s(Placement::kCanaries) { s.settings.single_call_pairs = 0; }
  /// Long rounds that were timed, of both sides.
  int rounds() const { return s.world.count("baseline runs 4"); }

  test::FakeSession s;
};

TEST_F(PairsOnTheHost, EqualSides_HaveSpeedupOne) {
  s.judge();
  ASSERT_TRUE(s.judgement.verdict.speedup);
  EXPECT_NEAR(s.speedup().value, 1, 1e-9);
  EXPECT_NEAR(s.speedup().time_us, 1000, 1e-6);
  EXPECT_TRUE(s.speedup().flags.empty());
}

TEST_F(PairsOnTheHost, Sides_TakeTurns) {
  s.judge();
  auto sides = s.world.sides_of("runs 4");
  sides.resize(8);  // the first pair does not count
  EXPECT_THAT(sides, ElementsAre("baseline", "submission", "baseline", "submission", "submission",
                                 "baseline", "baseline", "submission"));
}

TEST_F(PairsOnTheHost, Swapped_SubmissionComesFirst) {
  s.settings.swapped = true;
  s.judge();
  EXPECT_EQ(s.world.sides_of("runs 4").front(), "submission");
}

TEST_F(PairsOnTheHost, BaselineAlone_HasEmptyRounds) {
  s.judge();
  EXPECT_EQ(s.world.count("baseline idles"), rounds());
  EXPECT_EQ(s.world.count("submission idles"), 0);
}

TEST_F(PairsOnTheHost, ShortPairs_AreTimedAsOftenAsAllowed) {
  s.judge();
  EXPECT_EQ(s.speedup().rounds, s.settings.pairs_max);
}

TEST_F(PairsOnTheHost, NumberOfPairs_FollowsFromTheBaseline) {
  s.settings.seconds_max = 10 * 2 * 4.05e-3;  // ten pairs, but for the time of empty rounds
  for (const double call_s : {0.2e-3, 1e-3, 3e-3}) {
    test::FakeSession same(Placement::kCanaries);
    same.settings = s.settings;
    same.submission.call_s = call_s;
    same.judge();
    EXPECT_EQ(same.speedup().rounds, 9) << call_s;
  }
}

TEST_F(PairsOnTheHost, FarSlowerSubmission_IsCutShort) {
  s.settings.seconds_max = 10 * 2 * 4.05e-3;
  s.submission.call_s = 50e-3;
  s.judge();
  EXPECT_EQ(s.speedup().rounds, 3);
  EXPECT_THAT(s.speedup().flags, Contains("cut_short"));
  EXPECT_NEAR(s.speedup().value, 1.0 / 50, 1e-3);
}

TEST_F(PairsOnTheHost, BaselineVaries_ThreeTimesThePairsAreTimed) {
  s.settings.max_interval = 0.1;
  s.baseline.change = [](Order order, int number, Round& round) {
    if (order == Order::kRun) round.seconds *= number % 2 == 0 ? 0.6 : 1.6;
  };
  s.judge();
  EXPECT_EQ(s.speedup().rounds, 3 * s.settings.pairs_max);
  EXPECT_THAT(s.speedup().flags, Contains(flags::kMachineNoisy));
}

TEST_F(PairsOnTheHost, SubmissionVaries_NoMorePairsAreTimed) {
  s.settings.max_interval = 0.1;
  s.submission.change = [](Order, int number, Round& round) {
    round.seconds *= number % 2 == 0 ? 0.6 : 1.6;
  };
  s.judge();
  EXPECT_EQ(s.speedup().rounds, s.settings.pairs_max);
  EXPECT_THAT(s.speedup().flags, testing::Not(Contains(flags::kMachineNoisy)));
}

TEST_F(PairsOnTheHost, MachineStoodStill_PairIsTimedAgain) {
  s.baseline.change = [](Order order, int number, Round& round) {
    if (order != Order::kRun || number != 4) return;
    round.halted_seconds = 0.5;
    round.seconds += 0.5;
  };
  s.judge();
  EXPECT_EQ(s.speedup().rounds, s.settings.pairs_max);
  EXPECT_EQ(rounds(), 1 + s.settings.pairs_max + 1);
  EXPECT_NEAR(s.speedup().high, 1, 1e-9);
}

TEST_F(PairsOnTheHost, DelayedSubmission_IsExcusedWithOneThreadOnly) {
  s.submission.change = [](Order, int, Round& round) {
    round.delayed_seconds = 4e-3;
    round.seconds += 4e-3;
  };
  s.judge();
  EXPECT_NEAR(s.speedup().value, 1, 1e-9);
  s.task.threads = 2;
  s.judge();
  EXPECT_NEAR(s.speedup().value, 0.5, 1e-9);
}

TEST_F(PairsOnTheHost, LateOutputs_AreCheated) {
  s.submission.settled = false;
  s.judge();
  EXPECT_EQ(s.judgement.verdict.outcome, Outcome::kCheated);
  EXPECT_EQ(s.judgement.verdict.caught, caught::kLateOutputs);
}

TEST_F(PairsOnTheHost, WrongTimedOutput_IsWrongAfterBothRounds) {
  s.workbench.has_mismatch = [this] { return s.world.count("stage measure") == 1; };
  s.judge();
  EXPECT_EQ(s.judgement.verdict.outcome, Outcome::kWrong);
  EXPECT_EQ(s.judgement.verdict.stage, VerdictStage::kMeasure);
  EXPECT_EQ(s.judgement.verdict.caught, caught::kWrongWhenTimed);
  EXPECT_THAT(s.world.sides_of("runs 4"), ElementsAre("baseline", "submission"));
}

TEST_F(PairsOnTheHost, FailedRound_IsItsSidesFault) {
  s.baseline.change = [](Order order, int, Round& round) {
    if (order == Order::kRun) round.ending = Ending::kTimedOut;
  };
  s.judge();
  EXPECT_EQ(s.judgement.ending, Ending::kTimedOut);
  EXPECT_EQ(s.judgement.culprit, Culprit::kBaseline);
  EXPECT_EQ(s.judgement.where.place, Place::kMeasurement);
}

TEST_F(PairsOnTheHost, EqualSingleRounds_AreTimedAsOftenAsSet) {
  s.settings.single_call_pairs = 5;
  s.judge();
  // Each has a call with other inputs before it. The checks of three shapes are rounds of one call, too.
  EXPECT_EQ(s.world.count("baseline runs 1"), 2 * 5);
  EXPECT_EQ(s.world.count("submission runs 1"), 2 * 5 + 3);
}

TEST_F(PairsOnTheHost, RoundsWorkInItsFirstCall_IsCaughtAfterThreeTimesTheSingles) {
  s.settings.single_call_pairs = 5;
  s.submission.call_s = 0;
  s.submission.first_call_s = 2e-3;
  s.judge();
  EXPECT_EQ(s.world.count("baseline runs 1"), 2 * 3 * 5);
  EXPECT_EQ(s.judgement.verdict.caught, caught::kSingleRounds);
  EXPECT_NEAR(s.speedup().value, 0.5, 1e-3);
  EXPECT_THAT(s.speedup().flags, Contains("single_rounds_disagree"));
}

TEST(PairsOnADevice, EachRound_HasAnEmptyRoundOfItsSideBeforeIt) {
  test::FakeSession s(Placement::kDevice);
  s.settings.single_call_pairs = 0;
  s.judge();
  ASSERT_TRUE(s.judgement.verdict.speedup);
  EXPECT_NEAR(s.speedup().value, 1, 1e-9);
  int seen = 0;
  for (std::size_t i = 1; i < s.world.events.size(); ++i) {
    for (const std::string side : {"baseline", "submission"}) {
      if (s.world.events[i] != side + " runs 4") continue;
      EXPECT_EQ(s.world.events[i - 1], side + " idles");
      ++seen;
    }
  }
  EXPECT_EQ(seen, 2 * (1 + s.settings.pairs_max));
}

/// A task whose tolerance follows from its reference: the baseline gives the reference's own answers.
class AnswersOfTheBaseline : public testing::Test {
 protected:
  AnswersOfTheBaseline() : s(Placement::kDevice) {
    s.settings.single_call_pairs = 0;
    s.task.tolerance.from_reference = true;
  }
  bool is_timed() const { return s.world.count("submission runs 4") > 0; }
  /// Answers of the reference in timed rounds. One answer for each of the three untimed trials comes before.
  int answers() const { return s.world.count("reference is checked") - 3; }
  int rounds() const { return s.world.count("submission runs 4"); }

  test::FakeSession s;
};

TEST_F(AnswersOfTheBaseline, OutputsThatAgree_NeedNoneOfTheReference) {
  s.judge();
  EXPECT_EQ(s.judgement.verdict.outcome, Outcome::kCorrect);
  EXPECT_EQ(answers(), 0);
}

TEST_F(AnswersOfTheBaseline, OutputsThatDiffer_AreComparedWithTheReference) {
  s.workbench.differs_from = [this](const Arena& answers) {
    return &answers != &s.reference.arena();
  };
  s.judge();
  EXPECT_EQ(s.judgement.verdict.outcome, Outcome::kCorrect);
  EXPECT_EQ(answers(), rounds());
}

TEST_F(AnswersOfTheBaseline, OutputsThatDifferFromBoth_AreWrong) {
  s.workbench.differs_from = [this](const Arena&) { return is_timed(); };
  s.judge();
  EXPECT_EQ(s.judgement.verdict.outcome, Outcome::kWrong);
  EXPECT_EQ(s.judgement.verdict.caught, caught::kWrongWhenTimed);
}

TEST_F(AnswersOfTheBaseline, OutputsThatAgreeButDamageOthers_AreWrong) {
  s.workbench.canaries_stand = [this] { return !is_timed(); };
  s.judge();
  EXPECT_EQ(s.judgement.verdict.outcome, Outcome::kWrong);
  EXPECT_EQ(s.judgement.verdict.stage, VerdictStage::kMeasure);
  EXPECT_EQ(s.judgement.verdict.caught, caught::kWroteOutside);
}

TEST_F(AnswersOfTheBaseline, TaskWithItsOwnTolerance_UsesTheReference) {
  s.task.tolerance.from_reference = false;
  s.judge();
  EXPECT_EQ(answers(), rounds());
}

TEST(PairsOnADevice, ThrottledDevice_IsFlaggedAfterThreeDroppedPairs) {
  test::FakeSession s(Placement::kDevice);
  s.settings.single_call_pairs = 0;
  s.workbench.is_throttled = [] { return true; };
  s.judge();
  EXPECT_THAT(s.speedup().flags, ElementsAre("throttled"));
  EXPECT_EQ(s.world.count("baseline runs 4"), 1 + 3 + s.settings.pairs_max);
}

TEST(PairsOnADevice, OtherJudges_WaitWhilePairsAreTimed) {
  test::FakeSession s(Placement::kDevice);
  s.judge();
  const auto& events = s.world.events;
  const auto begun = std::find(events.begin(), events.end(), "device is exclusive");
  const auto ended = std::find(events.begin(), events.end(), "device is shared");
  ASSERT_TRUE(begun < ended && ended != events.end());
  EXPECT_THAT(std::vector<std::string>(events.begin(), begun), Contains("submission freezes"));
  const auto is_round = [](const std::string& event) {
    return event.ends_with(" idles") || event.find(" runs ") != std::string::npos;
  };
  EXPECT_TRUE(std::none_of(events.begin(), begun, is_round));
  EXPECT_TRUE(std::none_of(ended, events.end(), is_round));
}

/// Inputs of later rounds and comparisons need no exclusive use of the device.
class AheadOfThePairs : public testing::Test {
 protected:
  AheadOfThePairs() : s(Placement::kDevice) { s.task.tolerance.from_reference = true; }
  /// Events with this text while the judge has the device exclusively.
  int while_exclusive(const std::string& event) const {
    const auto& events = s.world.events;
    const auto begun = std::find(events.begin(), events.end(), "device is exclusive");
    return static_cast<int>(
        std::count(begun, std::find(begun, events.end(), "device is shared"), event));
  }
  /// Long rounds and single-call rounds of a side.
  int rounds() const { return s.world.count("submission runs 4") + s.settings.single_call_pairs; }
  void expect_in_pairs() const {
    // One for each pair, and one for each warm-up of a single-call round.
    EXPECT_EQ(while_exclusive("inputs are made"), rounds() + s.settings.single_call_pairs);
    EXPECT_EQ(while_exclusive("outputs are compared"), rounds());
  }

  test::FakeSession s;
};

TEST_F(AheadOfThePairs, MemoryForAll_NothingIsMadeOrComparedWhileExclusive) {
  s.task.timed["n"] = 500;
  s.judge();
  EXPECT_EQ(s.judgement.verdict.outcome, Outcome::kCorrect);
  EXPECT_EQ(s.speedup().rounds, s.settings.pairs_max);
  EXPECT_EQ(while_exclusive("inputs are made"), 0);
  EXPECT_EQ(while_exclusive("outputs are compared"), 0);
  EXPECT_EQ(while_exclusive("outputs are copied"), 2 * rounds());
  // Before each of three groups of inputs, of which the first is one round, and before the comparison.
  EXPECT_EQ(s.world.count("judge gives way"), 4);
}

TEST_F(AheadOfThePairs, NoMemoryBehindARound_AllIsDoneInThePairs) {
  s.task.timed["n"] = 15000;
  s.judge();
  EXPECT_EQ(s.judgement.verdict.outcome, Outcome::kCorrect);
  expect_in_pairs();
}

TEST_F(AheadOfThePairs, ReferenceWithScratchMemory_AllIsDoneInThePairs) {
  s.reference.scratch = 64;
  s.judge();
  EXPECT_EQ(s.judgement.verdict.outcome, Outcome::kCorrect);
  expect_in_pairs();
}

TEST_F(AheadOfThePairs, MemoryForSome_OthersAreMadeInTheirPairs) {
  s.task.timed["n"] = 4000;
  s.judge();
  EXPECT_EQ(s.judgement.verdict.outcome, Outcome::kCorrect);
  const int made = while_exclusive("inputs are made");
  EXPECT_GT(made, 0);
  EXPECT_LT(made, rounds() + s.settings.single_call_pairs);
}

TEST_F(AheadOfThePairs, DroppedPair_OutputsOfAllRoundsAreCompared) {
  int dropped = 0;
  s.workbench.is_throttled = [&] { return dropped++ == 3; };
  s.judge();
  EXPECT_EQ(s.judgement.verdict.outcome, Outcome::kCorrect);
  EXPECT_EQ(s.speedup().rounds, s.settings.pairs_max);
  // One comparison for each of the three untimed trials.
  EXPECT_EQ(s.world.count("outputs are compared") - 3, rounds());
}

TEST_F(AheadOfThePairs, WrongCopy_IsWrong) {
  s.workbench.has_mismatch = [this] { return s.world.count("device is shared") == 1; };
  s.judge();
  EXPECT_EQ(s.judgement.verdict.outcome, Outcome::kWrong);
  EXPECT_EQ(s.judgement.verdict.stage, VerdictStage::kMeasure);
  EXPECT_EQ(s.judgement.verdict.caught, caught::kWrongWhenTimed);
}

TEST_F(AheadOfThePairs, CopyThatDiffersFromTheTimedOutputs_IsCheated) {
  s.submission.settled_in = [this](const Arena& arena) { return &arena == &s.submission.arena(); };
  s.judge();
  EXPECT_EQ(s.judgement.verdict.outcome, Outcome::kCheated);
  EXPECT_EQ(s.judgement.verdict.caught, caught::kLateOutputs);
}

TEST(PairsOnADevice, WorkOfAnotherProcess_IsAFault) {
  test::FakeSession s(Placement::kDevice);
  s.is_device_still = false;
  s.judge();
  EXPECT_FALSE(s.judgement.verdict.speedup);
  EXPECT_EQ(s.judgement.ending, Ending::kFault);
  EXPECT_EQ(s.world.count("baseline runs 4"), 0);
}

}  // namespace
}  // namespace hone
