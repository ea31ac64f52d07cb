// Which verdicts get a confirmation run, and the final verdict of a step.
#include "evaluate/confirmation.hpp"

#include <gtest/gtest.h>

#include "model/caught.hpp"
#include "model/flags.hpp"

namespace hone {
namespace {

/// Of one core.
constexpr double kCore = 128 * 6e9;

constexpr double kSlow = 1e6;  // µs: far from physics

Verdict winner(double speedup, double time_us = kSlow, double width = 0.02) {
  Verdict verdict;
  verdict.outcome = Outcome::kCorrect;
  verdict.speedup = Speedup{
      speedup, speedup * (1 - width), speedup * (1 + width), time_us, time_us * speedup, 7, 4, {}};
  return verdict;
}

Task task(const std::string& id = "t") {
  Task task;
  task.dataset = "tasks";
  task.id = id;
  task.timed = {{"n", 1 << 20}};
  task.threads = 1;
  Tensor x;
  x.name = "x";
  x.dtype = DType::kF32;
  x.shape = {"n"};
  task.tensors = {x};
  return task;
}

TEST(Suspicions, SpeedupAboveTheConfiguredOne_IsDoubted) {
  const Suspicions suspicions(10, 0);
  EXPECT_EQ(suspicions.doubt(task(), winner(9.9), kCore), "");
  EXPECT_EQ(suspicions.doubt(task(), winner(12), kCore),
            "a speedup of 12, at least the 10 that is suspect");
  Verdict wrong = winner(12);
  wrong.outcome = Outcome::kWrong;
  EXPECT_EQ(suspicions.doubt(task(), wrong, kCore), "");
  Verdict unmeasured = winner(12);
  unmeasured.speedup.reset();
  EXPECT_EQ(suspicions.doubt(task(), unmeasured, kCore), "");
}

TEST(Suspicions, SpeedupFarAboveTheBestOfTheTask_IsDoubted) {
  Suspicions suspicions(0, 2);
  EXPECT_EQ(suspicions.doubt(task(), winner(1.9), kCore), "");
  EXPECT_EQ(suspicions.doubt(task(), winner(2.5), kCore),
            "a speedup of 2.5, where the best so far was 1");
  suspicions.remember(task(), winner(2.5));
  suspicions.remember(task(), winner(1.1));  // is not the best
  EXPECT_EQ(suspicions.doubt(task(), winner(4.9), kCore), "");
  EXPECT_NE(suspicions.doubt(task(), winner(5.1), kCore), "");
  EXPECT_NE(suspicions.doubt(task("another"), winner(2.5), kCore), "");
}

TEST(Suspicions, SpeedNearTheHardwaresLimit_IsDoubted) {
  // 4 MiB in 5 µs are 840 GB/s; the most there can be is 768 GB/s, a quarter of it 192.
  EXPECT_EQ(Suspicions(100, 0).doubt(task(), winner(1.5, 20), kCore),
            "a new best, of 1.5, near what the device can load and store");
  EXPECT_EQ(Suspicions(100, 0).doubt(task(), winner(1.5, 40), kCore), "");
  EXPECT_EQ(Suspicions(0, 0).doubt(task(), winner(1.5, 20), kCore), "");
}

TEST(Suspicions, SpeedNearTheHardwaresLimit_IsDoubtedOncePerBest) {
  Suspicions suspicions(100, 0);
  EXPECT_EQ(suspicions.doubt(task(), winner(1.01, 20), kCore), "") << "as fast as its baseline";
  suspicions.remember(task(), winner(1.5, 20));
  EXPECT_EQ(suspicions.doubt(task(), winner(1.5, 20), kCore), "");
  EXPECT_EQ(suspicions.doubt(task(), winner(1.52, 20), kCore), "");
  EXPECT_NE(suspicions.doubt(task(), winner(1.58, 20, 0.01), kCore), "");
  EXPECT_NE(suspicions.doubt(task("another"), winner(1.5, 20), kCore), "");
}

/// A gain above 10 % is doubted with any interval, because a submission can widen its own with a few slow rounds.
TEST(Suspicions, NewBestOfAKeptProcess_IsDoubted) {
  Suspicions suspicions(0, 0);
  EXPECT_EQ(suspicions.doubt(task(), winner(1.9, kSlow, 0.6), kCore, true),
            "a new best, of 1.9, in a process that earlier submissions have used");
  EXPECT_EQ(suspicions.doubt(task(), winner(1.9), kCore, false), "");
  suspicions.remember(task(), winner(2));
  EXPECT_EQ(suspicions.doubt(task(), winner(1.9), kCore, true), "");
}

TEST(Suspicions, GainsBelowTwoPerCent_AreNoNewBestAndDoNotAddUp) {
  Suspicions suspicions(0, 0);
  for (const double value : {1.001, 1.01, 1.019}) {
    EXPECT_EQ(suspicions.doubt(task(), winner(value), kCore, true), "") << value;
    suspicions.remember(task(), winner(value));
  }
  EXPECT_NE(suspicions.doubt(task(), winner(1.03), kCore, true), "");
}

TEST(Suspicions, GainsBelowTenPerCentWithOverlappingIntervals_AreNoNewBestAndDoNotAddUp) {
  Suspicions suspicions(0, 0);
  const auto is_doubted = [&](double speedup, double width) {
    return !suspicions.doubt(task(), winner(speedup, kSlow, width), kCore, true).empty();
  };
  EXPECT_FALSE(is_doubted(1.05, 0.06)) << "the interval contains the baseline's speedup";
  EXPECT_TRUE(is_doubted(1.05, 0.04));
  suspicions.remember(task(), winner(1.05, kSlow, 0.06));
  EXPECT_TRUE(is_doubted(1.05, 0.04)) << "the best is still the baseline";
  suspicions.remember(task(), winner(1.5, kSlow, 0.04));  // to 1.56
  EXPECT_FALSE(is_doubted(1.6, 0.03));
  EXPECT_TRUE(is_doubted(1.6, 0.02));
  EXPECT_TRUE(is_doubted(1.66, 0.5)) << "a tenth more than the best";
}

TEST(FinalVerdict, OneRun_KeepsItsOutcome) {
  for (const OutcomeRow& row : kOutcomes) {
    Verdict first = winner(3);
    first.outcome = row.outcome;
    const Verdict verdict = final_verdict(first);
    EXPECT_EQ(verdict_to_value(verdict), verdict_to_value(first)) << row.name;
  }
}

TEST(FinalVerdict, ConfirmationWithAnotherOutcome_Counts) {
  for (const OutcomeRow& row : kOutcomes) {
    if (row.outcome == Outcome::kCorrect) continue;
    Verdict second;
    second.outcome = row.outcome;
    for (const bool kept_process : {false, true}) {
      const Verdict verdict = final_verdict(winner(12), second, kept_process);
      EXPECT_EQ(verdict.outcome, row.outcome) << row.name;
      EXPECT_EQ(verdict.second_look, "disagreed") << row.name;
      EXPECT_EQ(verdict.caught, kept_process ? "" : caught::kSecondLook) << row.name;
    }
  }
}

TEST(FinalVerdict, NoiseOfTheFasterRun_ExcusesNothing) {
  EXPECT_EQ(final_verdict(winner(1.9, kSlow, 0.6), winner(0.99)).second_look, "disagreed");
}

/// Some of its own rounds are slow in the confirmation run, which widens its interval.
TEST(FinalVerdict, NoisyConfirmation_CountsAsTheSlowerRun) {
  Verdict second = winner(0.9);
  second.speedup->high = 4;
  const Verdict verdict = final_verdict(winner(2.5), second);
  EXPECT_EQ(verdict.speedup->value, 0.9);
  EXPECT_EQ(verdict.second_look, "agreed");
}

TEST(FinalVerdict, FirstRunInAKeptProcess_TheConfirmationCounts) {
  const Verdict agreed = final_verdict(winner(1.3), winner(1.2), true);
  EXPECT_EQ(agreed.speedup->value, 1.2);
  EXPECT_EQ(agreed.second_look, "agreed");
  const Verdict disagreed = final_verdict(winner(1.2), winner(2.4), true);
  EXPECT_EQ(disagreed.speedup->value, 2.4);
  EXPECT_EQ(disagreed.second_look, "disagreed");
  EXPECT_EQ(disagreed.caught, "") << "it may have been another's doing";
}

TEST(FinalVerdict, RunsAgree_TheFirstCounts) {
  const Verdict verdict = final_verdict(winner(12), winner(9));
  EXPECT_EQ(verdict.speedup->value, 12);
  EXPECT_EQ(verdict.second_look, "agreed");
  EXPECT_EQ(verdict.caught, "");
  EXPECT_EQ(final_verdict(winner(12), winner(6, kSlow, 1)).second_look, "agreed")
      << "intervals meet";
}

TEST(FinalVerdict, RunsDisagree_TheSlowerCounts) {
  for (const auto& [a, b] : {std::pair(12.0, 3.0), std::pair(3.0, 12.0)}) {
    const Verdict verdict = final_verdict(winner(a), winner(b));
    EXPECT_EQ(verdict.outcome, Outcome::kCorrect);
    EXPECT_EQ(verdict.speedup->value, 3);
    EXPECT_EQ(verdict.speedup->flags, std::vector<std::string>{flags::kSecondLookDisagrees});
    EXPECT_EQ(verdict.second_look, "disagreed");
    EXPECT_EQ(verdict.caught, caught::kSecondLook);
  }
}

TEST(FinalVerdict, OneRunFailed_ThatOneCounts) {
  Verdict wrong;
  wrong.outcome = Outcome::kWrong;
  wrong.reason = "output out is wrong for n=8";
  const Verdict verdict = final_verdict(winner(12), wrong);
  EXPECT_EQ(verdict.outcome, Outcome::kWrong);
  EXPECT_EQ(verdict.reason, "output out is wrong for n=8, in a confirmation run");
  EXPECT_EQ(verdict.second_look, "disagreed");
  EXPECT_EQ(verdict.caught, caught::kSecondLook);
}

TEST(FinalVerdict, DifferenceWithinNoise_AccusesNobody) {
  Verdict noisy = winner(12);
  noisy.speedup->flags = {flags::kNoisy};
  const Verdict one = final_verdict(noisy, winner(3));
  EXPECT_EQ(one.second_look, "disagreed");
  EXPECT_EQ(one.speedup->value, 3) << "the lower one counts all the same";
  EXPECT_EQ(one.caught, "");
  EXPECT_EQ(final_verdict(winner(3, kSlow, 0.5), winner(1.9)).caught, "") << "their intervals meet";
}

}  // namespace
}  // namespace hone
