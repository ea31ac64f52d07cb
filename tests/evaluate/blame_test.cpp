// Whose doing a failure may be that looks like one of ours.
#include <gtest/gtest.h>

#include <csignal>

#include "evaluate/verdicts.hpp"

namespace hone {
namespace {

Result<DeviceResult> failed(Ending ending, Culprit culprit, const Where& where) {
  return DeviceResult{{ending, culprit, where, "", {}}, std::nullopt};
}

TEST(Blame, AModuleThatHasNotBegunIsNotToBlame) {
  EXPECT_FALSE(
      may_be_provoked(failed(Ending::kFault, Culprit::kSubmission, {Place::kLoading}), true));
  EXPECT_TRUE(
      may_be_provoked(failed(Ending::kFault, Culprit::kSubmission, {Place::kMeasurement}), true));
}

TEST(Blame, AModuleBesideADeviceMayHaveTakenWhatOthersNeed) {
  EXPECT_TRUE(
      may_be_provoked(failed(Ending::kOutOfMemory, Culprit::kReference, {Place::kLoading}), true));
  EXPECT_TRUE(may_be_provoked(unavailable("judge: gone"), true));
}

TEST(Blame, OtherwiseASubmissionIsToBlameForItself) {
  EXPECT_TRUE(
      may_be_provoked(failed(Ending::kFault, Culprit::kSubmission, {Place::kLoading}), false));
  EXPECT_FALSE(
      may_be_provoked(failed(Ending::kFault, Culprit::kReference, {Place::kLoading}), false));
  EXPECT_FALSE(may_be_provoked(unavailable("judge: gone"), false));
  auto killed = failed(Ending::kDied, Culprit::kSubmission, {Place::kMeasurement});
  killed->exit.emplace().signal = SIGKILL;
  EXPECT_TRUE(may_be_provoked(killed, false)) << "nothing shows that the machine did it";
  killed->exit->killed_by_machine = true;
  EXPECT_FALSE(may_be_provoked(killed, false));
  EXPECT_FALSE(may_be_provoked(killed, true));
}

TEST(Blame, OthersMayHaveTakenWhatASubmissionLacked) {
  const auto judged = [](Ending ending, Culprit culprit, const char* message) {
    return Judgement{ending, culprit, {Place::kCheck, "the only shape"}, message, {}};
  };
  for (const Ending ending : {Ending::kOutOfMemory, Ending::kTimedOut, Ending::kDied})
    EXPECT_TRUE(may_be_others_doing(judged(ending, Culprit::kSubmission, ""), false));
  EXPECT_TRUE(may_be_others_doing(
      judged(Ending::kException, Culprit::kSubmission, "RuntimeError: unable to find an engine"),
      false));
  EXPECT_TRUE(may_be_others_doing(
      judged(Ending::kRefused, Culprit::kSubmission, "CUDA out of memory"), false));
  EXPECT_FALSE(may_be_others_doing(
      judged(Ending::kException, Culprit::kSubmission, "NameError: name 'allocate' is not defined"),
      true));
  EXPECT_FALSE(
      may_be_others_doing(judged(Ending::kMismatch, Culprit::kSubmission, "a shape"), false));
  EXPECT_FALSE(may_be_others_doing(judged(Ending::kDone, Culprit::kNone, ""), false));
  EXPECT_FALSE(may_be_others_doing(judged(Ending::kTimedOut, Culprit::kReference, ""), false));
  const Judgement faulted =
      judged(Ending::kException, Culprit::kSubmission,
             "AcceleratorError: CUDA error: an illegal memory access was encountered");
  EXPECT_FALSE(may_be_others_doing(faulted, false));
  EXPECT_TRUE(may_be_others_doing(faulted, true));
}

TEST(Blame, VerdictOfAFailure_FollowsThePlaceAndNotItsText) {
  const auto reason = [](const Where& where, VerdictStage* stage = nullptr) {
    const Judgement judged{Ending::kException, Culprit::kSubmission, where, "n is 5", {}};
    const auto verdict = verdict_of_judgement({judged, std::nullopt});
    if (stage != nullptr) *stage = verdict->stage;
    return verdict->reason;
  };
  VerdictStage stage = VerdictStage::kNone;
  EXPECT_EQ(reason({Place::kCheck, "loading"}, &stage),
            "uncaught exception 'n is 5' in a check of loading");
  EXPECT_EQ(stage, VerdictStage::kCheck);
  EXPECT_EQ(reason({Place::kMeasurement}, &stage), "uncaught exception 'n is 5' in a measurement");
  EXPECT_EQ(stage, VerdictStage::kMeasure);
  EXPECT_EQ(reason({Place::kLoading}, &stage), "uncaught exception 'n is 5' while loading");
  EXPECT_EQ(stage, VerdictStage::kLoad);
  EXPECT_EQ(reason({Place::kCheck, "a hidden shape", false}),
            "uncaught exception 'n is 5' in a check of a hidden shape");
  EXPECT_EQ(reason({Place::kCheck, "a secret shape", true}),
            "uncaught exception in a check of a secret shape");
}

TEST(Blame, RefusalWithTheTextOfAnother_IsJudgedByItsEnding) {
  const auto verdict = [](Ending ending, const char* message, bool hidden) {
    const Where where{Place::kCheck, "a shape", hidden};
    return *verdict_of_judgement({{ending, Culprit::kSubmission, where, message, {}}, {}});
  };
  const Verdict claims = verdict(Ending::kRefused, "launch of f: the grid is 0", true);
  EXPECT_EQ(claims.reason,
            "the process reported a failure: launch of f: the grid is 0 in a check of a shape");
  EXPECT_EQ(verdict(Ending::kRefused, "a report that is none", false).caught, "");
  EXPECT_EQ(verdict(Ending::kBrokenReport, "it said nothing", false).caught, "broken_report");
  EXPECT_EQ(verdict(Ending::kNotLaunchable, "the grid is 0", false).reason,
            "the grid is 0 in a check of a shape");
  EXPECT_EQ(verdict(Ending::kNotLaunchable, "the grid is 0", true).reason,
            "a launch that the device cannot start in a check of a shape");
}

TEST(Blame, StarvedSubmission_IsNeverToBlame) {
  const auto starved =
      failed(Ending::kStarved, Culprit::kSubmission, {Place::kCheck, "the only shape"});
  for (const bool on_device : {false, true}) EXPECT_FALSE(may_be_provoked(starved, on_device));
  const auto verdict = verdict_of_judgement(*starved);
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().message, "submission: starved in a check of the only shape");
  EXPECT_TRUE(may_be_others_doing(starved->judgement, false)) << "the device alone may do";
}

TEST(Blame, SpeedupOfANoisyMachine_IsNoVerdict) {
  Verdict verdict;
  verdict.outcome = Outcome::kCorrect;
  EXPECT_TRUE(unless_noise(verdict));
  verdict.speedup.emplace();
  verdict.speedup->low = 0.3;
  verdict.speedup->high = 2.3;
  verdict.speedup->flags = {"noisy"};
  EXPECT_TRUE(unless_noise(verdict)) << "it may be the submission that is";
  verdict.speedup->flags.emplace_back(kMachineNoisy);
  const auto noise = unless_noise(verdict);
  ASSERT_FALSE(noise);
  EXPECT_EQ(noise.error().code, Code::kUnavailable);
  EXPECT_NE(noise.error().message.find("between 0.3 and 2.3"), std::string::npos);
}

}  // namespace
}  // namespace hone
