// The verdict of each failure, the failures without a verdict, and the facts that reruns need.
#include <gtest/gtest.h>

#include <csignal>

#include "evaluate/reruns.hpp"
#include "evaluate/verdicts.hpp"
#include "model/flags.hpp"

namespace hone {
namespace {

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

TEST(Blame, StarvedSubmission_IsNoVerdict) {
  const Where where{Place::kCheck, "the only shape"};
  const auto verdict =
      verdict_of_judgement({{Ending::kStarved, Culprit::kSubmission, where, "", {}}, std::nullopt});
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().message, "submission: starved in a check of the only shape");
}

TEST(Blame, SpeedupOfANoisyMachine_IsNoVerdict) {
  Verdict verdict;
  verdict.outcome = Outcome::kCorrect;
  EXPECT_TRUE(unless_noise(verdict));
  verdict.speedup.emplace();
  verdict.speedup->low = 0.3;
  verdict.speedup->high = 2.3;
  verdict.speedup->flags = {flags::kNoisy};
  EXPECT_TRUE(unless_noise(verdict)) << "it may be the submission that is";
  verdict.speedup->flags.emplace_back(flags::kMachineNoisy);
  const auto noise = unless_noise(verdict);
  ASSERT_FALSE(noise);
  EXPECT_EQ(noise.error().code, Code::kUnavailable);
  EXPECT_NE(noise.error().message.find("between 0.3 and 2.3"), std::string::npos);
}

TEST(Blame, SigkillWithoutProof_IsAFaultThatMayBeProvoked) {
  DeviceResult result;
  result.judgement.ending = Ending::kDied;
  result.judgement.culprit = Culprit::kSubmission;
  result.judgement.where = {Place::kCheck, "shape n=1"};
  result.exit.emplace();
  result.exit->signal = SIGKILL;
  const auto first = verdict_of_judgement(result);
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().message,
            "the submission's process ended by SIGKILL; no out-of-memory kill was counted");
  EXPECT_EQ(finding_of({result, {}}, first, false).end, End::kKilled);
  EXPECT_EQ(verdict_of_provocation(result).outcome, Outcome::kCrashed);

  result.exit->killed_by_machine = true;
  const auto starved = verdict_of_judgement(result);
  ASSERT_FALSE(starved);
  EXPECT_EQ(starved.error().message,
            "the submission's process ended by SIGKILL while the machine was out of memory");
  EXPECT_EQ(finding_of({result, {}}, starved, false).end, End::kKilledByMachine);

  result.exit->killed_by_machine = false;
  result.exit->out_of_memory = true;
  const auto greedy = verdict_of_judgement(result);
  ASSERT_TRUE(greedy) << greedy.error().message;
  EXPECT_EQ(greedy->outcome, Outcome::kOutOfMemory);
}

Evaluation evaluation_of(Ending ending, Culprit culprit, const Where& where = {},
                         const char* message = "") {
  return {DeviceResult{{ending, culprit, where, message, {}}, std::nullopt}, {}};
}

Finding found(const Evaluation& evaluation, bool brings_code = false) {
  return finding_of(evaluation, unavailable("not scored"), brings_code);
}

TEST(Finding, Failure_MayBeContentionUnlessItIsAMistakeOfTheAuthor) {
  const Where where{Place::kCheck, "the only shape"};
  const auto may_be = [&](Ending ending, Culprit culprit, const char* message, bool brings_code) {
    return found(evaluation_of(ending, culprit, where, message), brings_code).may_be_contention;
  };
  const Culprit own = Culprit::kSubmission;
  for (const Ending ending : {Ending::kOutOfMemory, Ending::kDied})
    EXPECT_TRUE(may_be(ending, own, "", false));
  EXPECT_TRUE(may_be(Ending::kException, own, "RuntimeError: unable to find an engine", false));
  EXPECT_TRUE(may_be(Ending::kRefused, own, "CUDA out of memory", false));
  EXPECT_TRUE(may_be(Ending::kStarved, own, "", false)) << "the device alone may do";
  EXPECT_FALSE(may_be(Ending::kException, own, "NameError: name 'allocate' is not defined", true));
  EXPECT_FALSE(may_be(Ending::kMismatch, own, "a shape", false));
  EXPECT_FALSE(may_be(Ending::kDone, Culprit::kNone, "", false));
  EXPECT_FALSE(may_be(Ending::kTimedOut, Culprit::kReference, "", false));
  const char* fault = "AcceleratorError: CUDA error: an illegal memory access was encountered";
  EXPECT_FALSE(may_be(Ending::kException, own, fault, false));
  EXPECT_TRUE(may_be(Ending::kException, own, fault, true));
}

TEST(Finding, SlowCall_MayBeContentionIfOthersUsedTheDevice) {
  Evaluation slow = evaluation_of(Ending::kTimedOut, Culprit::kSubmission, {Place::kCheck});
  EXPECT_FALSE(found(slow).may_be_contention);
  EXPECT_FALSE(found(slow).is_doubtful) << "the process has just answered a known question";
  slow.circumstances.shared_check = true;
  EXPECT_TRUE(found(slow).may_be_contention);
  const Evaluation timed =
      evaluation_of(Ending::kTimedOut, Culprit::kSubmission, {Place::kMeasurement});
  EXPECT_TRUE(found(timed).is_doubtful);
}

TEST(Finding, ProcessThatCouldNotOpenItsDevice_LackedMemory) {
  const Where loading{Place::kLoading};
  const Finding opening = found(evaluation_of(Ending::kFault, Culprit::kSubmission, loading));
  EXPECT_TRUE(opening.failed_before_load && opening.lacked_memory);
  EXPECT_TRUE(found(evaluation_of(Ending::kOutOfMemory, Culprit::kReference)).lacked_memory);
  EXPECT_TRUE(found({Error{Code::kResourceExhausted, ""}, {}}).lacked_memory);
  EXPECT_FALSE(found({unavailable("the judge: gone"), {}}).lacked_memory);
}

TEST(Finding, Error_IsHopelessIfTheDeviceWasNotFreeInTime) {
  Evaluation late{Error{Code::kDeadlineExceeded, ""}, {}};
  EXPECT_TRUE(found(late).is_hopeless);
  late.circumstances.has_begun = true;
  EXPECT_FALSE(found(late).is_hopeless) << "the judge was silent";
  late.circumstances.gave_up = true;
  EXPECT_TRUE(found(late).is_hopeless);
}

TEST(Finding, End_FollowsTheProcessAndTheMachine) {
  Evaluation ended = evaluation_of(Ending::kDied, Culprit::kSubmission);
  EXPECT_EQ(found(ended).end, End::kFault);
  ended.result->exit.emplace().signal = SIGKILL;
  EXPECT_EQ(found(ended).end, End::kKilled);
  ended.result->exit->killed_by_machine = true;
  EXPECT_EQ(found(ended).end, End::kKilledByMachine);
  ended.result->judgement.ending = Ending::kStarved;
  EXPECT_EQ(found(ended).end, End::kStarved);
  EXPECT_EQ(found(evaluation_of(Ending::kDone, Culprit::kNone)).end, End::kNoise);
  EXPECT_EQ(finding_of(ended, Verdict(), false).end, End::kVerdict);
  EXPECT_EQ(found({unavailable(""), {}}).end, End::kNoAnswer);
}

TEST(Finding, FailuresAndCheating_AreDoubtfulInAKeptProcess) {
  Verdict verdict;
  const auto doubtful = [&](Outcome outcome) {
    verdict.outcome = outcome;
    Evaluation done = evaluation_of(Ending::kDone, Culprit::kNone);
    done.result->judgement.verdict = verdict;
    return finding_of(done, verdict, false).is_doubtful;
  };
  EXPECT_FALSE(doubtful(Outcome::kCorrect));
  EXPECT_FALSE(doubtful(Outcome::kWrong)) << "its process gave a known answer before";
  EXPECT_TRUE(doubtful(Outcome::kCheated));
  EXPECT_TRUE(found(evaluation_of(Ending::kDied, Culprit::kSubmission)).is_doubtful);
  EXPECT_TRUE(found(evaluation_of(Ending::kFault, Culprit::kKeptProcess)).is_doubtful);
  EXPECT_FALSE(found(evaluation_of(Ending::kFault, Culprit::kReference)).is_doubtful);
}

}  // namespace
}  // namespace hone
