// How often, and why, a step is evaluated again: a row for each rule, and all histories for the bound.
#include "evaluate/reruns.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace hone {
namespace {

constexpr Mode kModes[] = {Mode::kNativeOnCpu, Mode::kPlanOnDevice, Mode::kModuleOnCpu,
                           Mode::kModuleOnDevice, Mode::kRecordedModule};

struct Row {
  const char* about;
  std::function<void(History&)> history;
  std::function<void(Finding&)> finding;
  Next next;
  Reason reason = Reason::kNone;
  Isolation isolation = {};
  bool keeps_lock = false;
};

constexpr Isolation kShared = {ProcessUse::kKept, DeviceUse::kShared};
constexpr Isolation kExclusive = {ProcessUse::kKept, DeviceUse::kExclusive};
constexpr Isolation kFreshShared = {ProcessUse::kFresh, DeviceUse::kShared};
constexpr Isolation kFreshExclusive = {ProcessUse::kFresh, DeviceUse::kExclusive};
constexpr Isolation kOnlyExclusive = {ProcessUse::kOnly, DeviceUse::kExclusive};
constexpr Isolation kOnlyShared = {ProcessUse::kOnly, DeviceUse::kShared};
constexpr Isolation kAllMemory = {ProcessUse::kKept, DeviceUse::kAllMemory};

/// Each row changes the history and the finding of a module on a device, which shares it, and whose verdict counts.
void expect_rows(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.about);
    History history = begin_run(RunKind::kFirst, Mode::kRecordedModule, true);
    if (row.history) row.history(history);
    Finding finding;
    finding.circumstances.device = history.isolation.device;
    finding.circumstances.has_begun = true;
    finding.circumstances.memory_is_budgeted = true;
    if (row.finding) row.finding(finding);
    const Decision decision = decide(history, finding);
    EXPECT_EQ(decision.next, row.next);
    EXPECT_EQ(enum_name(decision.reason), enum_name(row.reason));
    if (row.next != Next::kRerun) continue;
    EXPECT_TRUE(decision.isolation == row.isolation);
    EXPECT_EQ(decision.keeps_lock, row.keeps_lock);
  }
}

void second_attempt(History& history) {
  history.attempts = 2;
  history.isolation = kFreshExclusive;
}

std::function<void(Finding&)> ends(End end, Culprit culprit = Culprit::kNone) {
  return [=](Finding& finding) {
    finding.end = end;
    finding.culprit = culprit;
  };
}

TEST(Reruns, VerdictThatNothingSpeaksAgainst_IsAccepted) {
  expect_rows({
      {"a verdict", {}, {}, Next::kAccept},
      {"others used the device, but cannot have caused it",
       {},
       [](Finding& f) { f.circumstances.met_others = true; },
       Next::kAccept},
      {"in a kept process",
       {},
       [](Finding& f) { f.circumstances.kept_process = true; },
       Next::kAccept},
      {"processes of other clients are kept",
       {},
       [](Finding& f) { f.circumstances.keeps_others = true; },
       Next::kAccept},
      {"too good", {}, [](Finding& f) { f.is_too_good = true; }, Next::kConfirm, Reason::kTooGood},
      {"too good in the confirmation run", [](History& h) { h.run = RunKind::kConfirmation; },
       [](Finding& f) { f.is_too_good = true; }, Next::kAccept},
      {"the submission's own lack of memory, with all of the device's",
       [](History& h) { h.isolation = kAllMemory; },
       [](Finding& f) {
         f.lacked_memory = true;
         f.culprit = Culprit::kSubmission;
       },
       Next::kAccept},
  });
}

TEST(Reruns, ResultThatAnotherSubmissionMayHaveCaused_IsIsolatedMore) {
  const auto doubtful = [](Finding& f) { f.circumstances.kept_process = f.is_doubtful = true; };
  const auto lacks = [](Finding& f) { f.lacked_memory = true; };
  const auto lacks_beside_kept = [](Finding& f) {
    f.lacked_memory = f.circumstances.keeps_others = true;
  };
  const auto contended = [](Finding& f) {
    f.may_be_contention = f.circumstances.met_others = true;
  };
  expect_rows({
      {"bad result of a kept process",
       {},
       doubtful,
       Next::kRerun,
       Reason::kKeptProcess,
       kFreshShared,
       true},
      {"its judge did not answer: the lock is taken again",
       {},
       [&](Finding& f) {
         doubtful(f);
         f.end = End::kNoAnswer;
       },
       Next::kRerun,
       Reason::kKeptProcess,
       kFreshShared,
       false},
      {"the same result of a fresh process",
       {},
       [](Finding& f) { f.is_doubtful = true; },
       Next::kAccept},
      {"short of memory while processes are kept",
       {},
       lacks_beside_kept,
       Next::kRerun,
       Reason::kKeptMemory,
       kOnlyShared,
       true},
      {"with none kept",
       [](History& h) { h.isolation.process = ProcessUse::kOnly; },
       lacks_beside_kept,
       Next::kRerun,
       Reason::kDeviceMemory,
       {ProcessUse::kOnly, DeviceUse::kAllMemory}},
      {"short of memory", {}, lacks, Next::kRerun, Reason::kDeviceMemory, kAllMemory},
      {"short of memory, after a rerun for contention",
       [](History& h) { h.isolation = kExclusive; }, lacks, Next::kRerun, Reason::kDeviceMemory,
       kAllMemory},
      {"the device gave all its memory unasked",
       {},
       [&](Finding& f) {
         lacks(f);
         f.circumstances.device = DeviceUse::kAllMemory;
       },
       Next::kAccept},
      {"memory that lanes do not divide",
       {},
       [&](Finding& f) {
         lacks(f);
         f.circumstances.memory_is_budgeted = false;
       },
       Next::kAccept},
      {"contention", {}, contended, Next::kRerun, Reason::kContention, kExclusive},
      {"a failure as of contention, but alone",
       {},
       [](Finding& f) { f.may_be_contention = true; },
       Next::kAccept},
      {"contention with the device exclusively", [](History& h) { h.isolation = kExclusive; },
       contended, Next::kAccept},
      {"memory comes before contention",
       {},
       [&](Finding& f) {
         contended(f);
         lacks(f);
       },
       Next::kRerun,
       Reason::kDeviceMemory,
       kAllMemory},
  });
}

TEST(Reruns, ShortageThatIsNotTheSubmissions_IsRememberedOfTheTask) {
  Finding finding;
  finding.lacked_memory = finding.circumstances.memory_is_budgeted = true;
  const History history = begin_run(RunKind::kFirst, Mode::kRecordedModule, true);
  EXPECT_TRUE(decide(history, finding).task_is_large);
  finding.culprit = Culprit::kSubmission;
  EXPECT_FALSE(decide(history, finding).task_is_large);
}

TEST(Reruns, Fault_GetsAnotherAttempt) {
  const std::pair<End, Reason> faults[] = {
      {End::kNoise, Reason::kNoise},   {End::kStarved, Reason::kStarved},
      {End::kKilled, Reason::kKilled}, {End::kKilledByMachine, Reason::kKilledByMachine},
      {End::kFault, Reason::kFault},   {End::kNoAnswer, Reason::kNoAnswer}};
  for (const auto& [end, reason] : faults) {
    expect_rows({{"the first", {}, ends(end), Next::kRerun, reason, kFreshExclusive}});
    History history = begin_run(RunKind::kFirst, Mode::kNativeOnCpu, true);
    second_attempt(history);
    Finding finding;
    finding.end = end;
    EXPECT_EQ(decide(history, finding).next, end == End::kKilled ? Next::kRerun : Next::kFault);
    history.attempts = 3;
    EXPECT_EQ(decide(history, finding).next, Next::kFault);
    history.run = RunKind::kKnownAnswer;
    history.attempts = 1;
    EXPECT_EQ(decide(history, finding).next, Next::kFault) << "a known answer has one attempt";
  }
  const auto hopeless = [](Finding& f) {
    f.end = End::kNoAnswer;
    f.is_hopeless = f.is_doubtful = f.circumstances.kept_process = true;
  };
  expect_rows({
      {"in vain", {}, hopeless, Next::kFault, Reason::kNoAnswer},
      {"killed in the first attempt, a fault in the second",
       [](History& h) {
         second_attempt(h);
         h.was_killed = true;
       },
       ends(End::kFault), Next::kRerun, Reason::kFault, kFreshExclusive},
      {"memory that was given stays",
       [](History& h) { h.isolation = kAllMemory; },
       ends(End::kFault),
       Next::kRerun,
       Reason::kFault,
       {ProcessUse::kFresh, DeviceUse::kAllMemory}},
  });
}

/// The last attempt's fault: whether a known answer is asked before it is one.
TEST(Reruns, FaultThatTheSubmissionMayHaveProvoked_IsComparedWithAKnownAnswer) {
  struct Fault {
    const char* about;
    Finding finding;
    bool native, module;
  };
  const auto finding = [](End end, Culprit culprit, bool before_load) {
    Finding made;
    made.end = end;
    made.culprit = culprit;
    made.failed_before_load = before_load;
    return made;
  };
  const Fault faults[] = {
      {"blamed", finding(End::kFault, Culprit::kSubmission, false), true, true},
      {"before it was loaded", finding(End::kFault, Culprit::kSubmission, true), true, false},
      {"the reference's", finding(End::kFault, Culprit::kReference, false), false, true},
      {"the judge's", finding(End::kFault, Culprit::kNone, false), false, true},
      {"no answer", finding(End::kNoAnswer, Culprit::kNone, false), false, true},
      {"killed", finding(End::kKilled, Culprit::kSubmission, false), true, true},
      {"by the machine", finding(End::kKilledByMachine, Culprit::kSubmission, false), false, false},
      {"starved", finding(End::kStarved, Culprit::kSubmission, false), false, false},
      {"noise", finding(End::kNoise, Culprit::kNone, false), false, false},
  };
  for (const Fault& fault : faults) {
    for (const Mode mode : kModes) {
      SCOPED_TRACE(fault.about + std::string(" ") + std::to_string(static_cast<int>(mode)));
      History history = begin_run(RunKind::kFirst, mode, true);
      history.attempts = 3;
      const bool provoked = mode == Mode::kModuleOnDevice ? fault.module : fault.native;
      EXPECT_EQ(decide(history, fault.finding).next, Next::kFault) << "it never had a process";
      history.has_begun = true;
      EXPECT_EQ(decide(history, fault.finding).next,
                provoked ? Next::kAskKnownAnswer : Next::kFault);
      history.run = RunKind::kKnownAnswer;
      EXPECT_EQ(decide(history, fault.finding).next, Next::kFault);
      history.run = RunKind::kFirst;
      history.proves_faults = false;
      const bool asked = provoked && fault.finding.end != End::kKilled;
      EXPECT_EQ(decide(history, fault.finding).next, asked ? Next::kAskKnownAnswer : Next::kFault);
    }
  }
}

TEST(Reruns, PlanThatFails_IsFollowedByTheModuleInItsOwnProcess) {
  const auto may_leave = [](History& h) { h.may_leave_plan = true; };
  const auto last_attempt = [](History& h) {
    h.may_leave_plan = h.has_begun = true;
    h.attempts = 3;
    h.isolation = kFreshExclusive;
  };
  const auto fails = [](End end) {
    return [=](Finding& f) {
      f.end = end;
      f.culprit = Culprit::kSubmission;
      f.plan_failed = true;
    };
  };
  expect_rows({
      {"a crash in a check", may_leave, fails(End::kVerdict), Next::kWithoutPlan, Reason::kPlan},
      {"with `modules: plan`", {}, fails(End::kVerdict), Next::kAccept},
      {"a verdict that no plan causes", may_leave, {}, Next::kAccept},
      {"the module in its own process",
       [](History& h) {
         h.may_leave_plan = true;
         h.mode = Mode::kModuleOnDevice;
       },
       fails(End::kVerdict), Next::kAccept},
      {"in a confirmation run, after a replay",
       [](History& h) {
         h.may_leave_plan = true;
         h.run = RunKind::kConfirmation;
       },
       fails(End::kVerdict), Next::kAccept},
      {"a kept process comes first", may_leave,
       [](Finding& f) { f.plan_failed = f.is_doubtful = f.circumstances.kept_process = true; },
       Next::kRerun, Reason::kKeptProcess, kFreshShared, true},
      {"attempts come first", may_leave, fails(End::kNoAnswer), Next::kRerun, Reason::kNoAnswer,
       kFreshExclusive},
      {"the baseline's plan in the last attempt", last_attempt, fails(End::kNoAnswer),
       Next::kWithoutPlan, Reason::kPlan},
      {"a fault in the last attempt: no known answer", last_attempt, fails(End::kFault),
       Next::kWithoutPlan, Reason::kPlan},
      {"with `modules: plan`, a known answer is asked",
       [=](History& h) {
         last_attempt(h);
         h.may_leave_plan = false;
       },
       fails(End::kFault), Next::kAskKnownAnswer, Reason::kFault},
      {"in vain", may_leave,
       [](Finding& f) {
         f.end = End::kNoAnswer;
         f.plan_failed = f.is_hopeless = true;
       },
       Next::kFault, Reason::kNoAnswer},
  });
}

TEST(Reruns, PlanFailed_FollowsFromOutcomePlaceAndCode) {
  const auto failed = [](Ending ending, Culprit culprit, Place place,
                         const Result<Verdict>& scored) {
    DeviceResult result;
    result.judgement.ending = ending;
    result.judgement.culprit = culprit;
    result.judgement.where.place = place;
    return finding_of({result, {}}, scored, false).plan_failed;
  };
  const auto verdict = [](Outcome outcome, VerdictStage stage) {
    Verdict made;
    made.outcome = outcome;
    made.stage = stage;
    return Result<Verdict>(made);
  };
  const auto scored = [&](Outcome outcome, VerdictStage stage) {
    return failed(Ending::kException, Culprit::kSubmission, Place::kCheck, verdict(outcome, stage));
  };
  EXPECT_TRUE(scored(Outcome::kCrashed, VerdictStage::kCheck));
  EXPECT_TRUE(scored(Outcome::kCrashed, VerdictStage::kLoad));
  EXPECT_TRUE(scored(Outcome::kOutOfMemory, VerdictStage::kCheck));
  EXPECT_FALSE(scored(Outcome::kCrashed, VerdictStage::kMeasure));
  EXPECT_FALSE(scored(Outcome::kOutOfMemory, VerdictStage::kMeasure));
  for (const Outcome other : {Outcome::kCorrect, Outcome::kWrong, Outcome::kTimedOut,
                              Outcome::kCheated, Outcome::kRejected})
    EXPECT_FALSE(scored(other, VerdictStage::kCheck)) << outcome_name(other);

  const Result<Verdict> no_verdict = unavailable("a fault");
  const auto fault = [&](Ending ending, Culprit culprit, Place place) {
    return failed(ending, culprit, place, no_verdict);
  };
  EXPECT_TRUE(fault(Ending::kFault, Culprit::kSubmission, Place::kLoading));
  EXPECT_FALSE(fault(Ending::kFault, Culprit::kSubmission, Place::kMeasurement));
  EXPECT_FALSE(fault(Ending::kFault, Culprit::kReference, Place::kLoading));
  EXPECT_FALSE(fault(Ending::kStarved, Culprit::kSubmission, Place::kCheck));

  const auto no_answer = [&](const Error& error) {
    return finding_of({error, {}}, error, false).plan_failed;
  };
  EXPECT_TRUE(no_answer(failed_precondition("the baseline cannot be used")));
  EXPECT_FALSE(no_answer(unavailable("the judge ended")));
}

TEST(Reruns, Run_BeginsWithTheIsolationOfItsKind) {
  const auto begin = [](RunKind run, Mode mode) { return begin_run(run, mode, true).isolation; };
  for (const Mode mode : kModes) {
    EXPECT_EQ(begin(RunKind::kFirst, mode), uses_lanes(mode) ? kShared : kExclusive);
    const Isolation alone = is_module(mode) ? kOnlyExclusive : kFreshExclusive;
    EXPECT_EQ(begin(RunKind::kKnownAnswer, mode), alone);
    EXPECT_EQ(begin(RunKind::kConfirmation, mode),
              mode == Mode::kRecordedModule ? kFreshShared : alone);
  }
}

TEST(Reruns, History_RemembersWhatLaterRulesNeed) {
  const History first = begin_run(RunKind::kFirst, Mode::kRecordedModule, true);
  const auto next = [&first](const std::function<void(Finding&)>& change) {
    Finding finding;
    change(finding);
    return rerun(first, finding, decide(first, finding));
  };
  const History contended =
      next([](Finding& f) { f.may_be_contention = f.circumstances.met_others = true; });
  EXPECT_TRUE(contended.changes_inputs);
  Finding in_confirmation;
  in_confirmation.may_be_contention = in_confirmation.circumstances.met_others = true;
  const History confirmation = begin_run(RunKind::kConfirmation, Mode::kRecordedModule, true);
  EXPECT_FALSE(
      rerun(confirmation, in_confirmation, decide(confirmation, in_confirmation)).changes_inputs)
      << "no second draw of inputs";
  EXPECT_EQ(std::pair(contended.attempts, contended.evaluations), std::pair(1, 2));
  const History failed = next(ends(End::kFault, Culprit::kSubmission));
  EXPECT_FALSE(failed.changes_inputs);
  EXPECT_EQ(failed.attempts, 2);
  EXPECT_TRUE(failed.failed_itself) << "a speedup that follows is flagged";
  EXPECT_FALSE(next(ends(End::kStarved, Culprit::kSubmission)).failed_itself);
  EXPECT_FALSE(next(ends(End::kKilledByMachine, Culprit::kSubmission)).failed_itself);
  EXPECT_FALSE(next(ends(End::kFault, Culprit::kReference)).failed_itself);
  EXPECT_TRUE(next(ends(End::kKilled, Culprit::kSubmission)).was_killed);
}

/// Every combination of facts that decides, whether or not a device could bring it about.
std::vector<Finding> all_findings() {
  std::vector<Finding> all;
  constexpr unsigned kFlags = 11;
  for (const End end : {End::kVerdict, End::kNoise, End::kStarved, End::kKilledByMachine,
                        End::kKilled, End::kFault, End::kNoAnswer}) {
    for (unsigned flags = 0; flags < 1u << kFlags; ++flags) {
      const auto has = [flags](unsigned bit) { return (flags >> bit & 1u) != 0; };
      Finding f;
      f.end = end;
      f.culprit = has(0) ? Culprit::kSubmission : Culprit::kReference;
      f.circumstances.device = has(1) ? DeviceUse::kAllMemory : DeviceUse::kShared;
      f.circumstances.has_begun = has(2);
      f.circumstances.kept_process = f.is_doubtful = has(3);
      f.circumstances.met_others = f.may_be_contention = has(4);
      f.circumstances.keeps_others = has(5);
      f.circumstances.memory_is_budgeted = has(6);
      f.is_hopeless = has(7);
      f.lacked_memory = has(8);
      f.failed_before_load = f.is_too_good = has(9);
      f.plan_failed = has(10);
      all.push_back(f);
    }
  }
  return all;
}

struct Count {
  int submission = 0, known_answer = 0;  ///< evaluations
};

/// The most evaluations of a step: every run, and the runs that follow from it.
class Explorer {
 public:
  Explorer(bool proves_faults, bool may_leave_plan)
      : proves_faults_(proves_faults), may_leave_plan_(may_leave_plan) {}

  Count most_of_run(RunKind run, Mode mode) {
    History history = begin_run(run, mode, proves_faults_);
    history.may_leave_plan = may_leave_plan_;
    return most(history);
  }
  const std::map<Next, int>& seen(RunKind run, Mode mode) { return seen_[{run, mode}]; }

 private:
  Count most(const History& history) {
    const auto key =
        std::tuple(history.mode, history.run, history.isolation.process, history.isolation.device,
                   history.attempts, history.was_killed, history.has_begun);
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    Count after;
    for (const Finding& finding : findings_) {
      const Decision decision = decide(history, finding);
      ++seen_[{history.run, history.mode}][decision.next];
      const Count next = count_after(history, finding, decision);
      after.submission = std::max(after.submission, next.submission);
      after.known_answer = std::max(after.known_answer, next.known_answer);
    }
    if (history.run != RunKind::kKnownAnswer) ++after.submission;
    if (history.run == RunKind::kKnownAnswer) ++after.known_answer;
    return known_[key] = after;
  }

  Count count_after(const History& history, const Finding& finding, const Decision& decision) {
    switch (decision.next) {
      case Next::kAccept:
      case Next::kFault:
        break;
      case Next::kConfirm:
        return most_of_run(RunKind::kConfirmation, history.mode);
      case Next::kWithoutPlan:
        return most_of_run(RunKind::kFirst, Mode::kModuleOnDevice);
      case Next::kAskKnownAnswer:
        return most_of_run(RunKind::kKnownAnswer, history.mode);
      case Next::kRerun: {
        const History next = rerun(history, finding, decision);
        EXPECT_GE(next.isolation.process, history.isolation.process);
        EXPECT_GE(next.isolation.device, history.isolation.device);
        EXPECT_TRUE(next.isolation != history.isolation || next.attempts > history.attempts);
        return most(next);
      }
    }
    return {};
  }

  const bool proves_faults_, may_leave_plan_;
  const std::vector<Finding> findings_ = all_findings();
  std::map<std::pair<RunKind, Mode>, std::map<Next, int>> seen_;
  std::map<std::tuple<Mode, RunKind, ProcessUse, DeviceUse, int, bool, bool>, Count> known_;
};

TEST(Reruns, EveryHistory_EndsWithinTheBound) {
  Count most;
  for (const bool proves_faults : {false, true}) {
    for (const bool may_leave_plan : {false, true}) {
      Explorer explorer(proves_faults, may_leave_plan);
      for (const Mode mode : kModes) {
        const Count step = explorer.most_of_run(RunKind::kFirst, mode);
        most.submission = std::max(most.submission, step.submission);
        most.known_answer = std::max(most.known_answer, step.known_answer);
        const auto& first = explorer.seen(RunKind::kFirst, mode);
        const auto& confirmation = explorer.seen(RunKind::kConfirmation, mode);
        const auto& known_answer = explorer.seen(RunKind::kKnownAnswer, mode);
        const bool leaves = may_leave_plan && mode == Mode::kRecordedModule;
        EXPECT_EQ(first.count(Next::kWithoutPlan), leaves ? 1u : 0u);
        EXPECT_EQ(first.count(Next::kConfirm), 1u);
        EXPECT_EQ(first.count(Next::kAskKnownAnswer), 1u);
        EXPECT_EQ(confirmation.count(Next::kAskKnownAnswer), 1u);
        EXPECT_EQ(confirmation.count(Next::kConfirm), 0u) << "a step is confirmed once";
        EXPECT_EQ(confirmation.count(Next::kWithoutPlan), 0u);
        for (const Next further : {Next::kConfirm, Next::kWithoutPlan, Next::kAskKnownAnswer})
          EXPECT_EQ(known_answer.count(further), 0u) << "a known answer ends the step";
      }
    }
  }
  EXPECT_EQ(most.submission, kEvaluationsMax);
  EXPECT_EQ(most.known_answer, kKnownAnswerEvaluationsMax);
}

/// By chance, with the counts that the history itself keeps.
TEST(Reruns, RandomHistories_StayWithinTheBound) {
  const std::vector<Finding> findings = all_findings();
  std::mt19937_64 random(25);
  for (int step = 0; step < 20000; ++step) {
    Mode mode = kModes[random() % std::size(kModes)];
    RunKind run = RunKind::kFirst;
    int evaluations = 0, runs = 0;
    for (;;) {
      History history = begin_run(run, mode, random() % 2 == 0);
      history.may_leave_plan = random() % 2 == 0;
      Decision decision;
      for (;;) {
        const Finding& finding = findings[random() % findings.size()];
        decision = decide(history, finding);
        if (decision.next != Next::kRerun) break;
        history = rerun(history, finding, decision);
      }
      evaluations += history.evaluations;
      ASSERT_LE(history.attempts, 3);
      ASSERT_LE(++runs, 3) << "of the plan, of the module, and its confirmation run";
      if (decision.next == Next::kConfirm) {
        run = RunKind::kConfirmation;
      } else if (decision.next == Next::kWithoutPlan) {
        mode = Mode::kModuleOnDevice;
      } else {
        break;
      }
    }
    ASSERT_LE(evaluations, kEvaluationsMax);
  }
}

TEST(Reruns, Builds_TableOfRules) {
  struct BuildRow {
    const char* about;
    int builds;
    bool known_is_built;
    BuildFinding finding;
    BuildNext next;
  };
  const BuildFinding good, no_answer{.has_answer = false}, doubtful{.is_doubtful = true},
      hopeless{.has_answer = false, .is_hopeless = true},
      starved{.is_doubtful = true, .is_starved = true},
      limited{.is_starved = true};  // its own memory limit, too: an answer in itself
  const std::vector<BuildRow> rows = {
      {"an answer", 1, false, good, BuildNext::kAccept},
      {"an answer of the second build", 2, false, good, BuildNext::kAccept},
      {"an answer after the known program", 3, true, good, BuildNext::kAccept},
      {"the machine cannot build it", 1, false, hopeless, BuildNext::kFault},
      {"no answer", 1, false, no_answer, BuildNext::kBuildAgain},
      {"no answer twice", 2, false, no_answer, BuildNext::kFault},
      {"no answer after the known program", 3, true, no_answer, BuildNext::kFault},
      {"no mistake found", 1, false, doubtful, BuildNext::kBuildAgain},
      {"no mistake found twice", 2, false, doubtful, BuildNext::kBuildKnown},
      {"no mistake found after the known program", 3, true, doubtful, BuildNext::kAccept},
      {"too little time", 1, false, starved, BuildNext::kBuildAgain},
      {"too little time twice", 2, false, starved, BuildNext::kFault},
      {"too little time after the known program", 3, true, starved, BuildNext::kFault},
      {"its own memory limit", 1, false, limited, BuildNext::kAccept},
  };
  for (const BuildRow& row : rows) {
    SCOPED_TRACE(row.about);
    EXPECT_EQ(decide_build(row.builds, row.known_is_built, row.finding), row.next);
  }
}

TEST(Reruns, Builds_AnyHistory_EndsWithinTheBound) {
  constexpr int kFindings = 16;
  const std::function<int(int, bool)> longest = [&](int builds, bool known) {
    int most = builds;
    for (int bits = 0; bits < kFindings; ++bits) {
      const BuildFinding finding{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0,
                                 (bits & 8) != 0};
      const BuildNext next = decide_build(builds, known, finding);
      const bool ends = next == BuildNext::kAccept || next == BuildNext::kFault;
      if (ends || builds > kBuildsMax) continue;
      most = std::max(most, longest(builds + 1, known || next == BuildNext::kBuildKnown));
    }
    return most;
  };
  EXPECT_EQ(longest(1, false), kBuildsMax);
}

}  // namespace
}  // namespace hone
