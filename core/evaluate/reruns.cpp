// The rules, in the order in which they apply.
#include "evaluate/reruns.hpp"

#include <algorithm>
#include <csignal>

#include "evaluate/diagnostics.hpp"

namespace hone {
namespace {

// Rationale: random SIGKILLs from outside may hit one submission twice; three times is unlikely.
constexpr int kAttempts = 2, kAttemptsIfKilled = 3;

/// Why another attempt follows a fault.
Reason reason_of(End end) {
  switch (end) {
    case End::kVerdict:
      return Reason::kNone;
    case End::kNoise:
      return Reason::kNoise;
    case End::kStarved:
      return Reason::kStarved;
    case End::kKilledByMachine:
      return Reason::kKilledByMachine;
    case End::kKilled:
      return Reason::kKilled;
    case End::kFault:
      return Reason::kFault;
    case End::kNoAnswer:
      return Reason::kNoAnswer;
  }
  return Reason::kFault;
}

bool is_of_machine(End end) {
  return end == End::kNoise || end == End::kStarved || end == End::kKilledByMachine;
}

/// Whether the submission may have caused the fault.
bool may_be_provoked(const History& history, const Finding& finding) {
  if (history.run == RunKind::kKnownAnswer || is_of_machine(finding.end)) return false;
  if (!history.has_begun && !finding.circumstances.has_begun) return false;
  if (finding.end == End::kKilled && !history.proves_faults) return false;
  // Rationale: a module's host code on a device can take the reference's memory, and its processes can kill each other.
  // But it opens the device before anything of the submission is loaded, perhaps while the last one's memory is not free.
  if (history.mode == Mode::kModuleOnDevice) return !finding.failed_before_load;
  return finding.end != End::kNoAnswer && finding.culprit == Culprit::kSubmission;
}

/// Whether the module is judged again without its plan. Rationale: an error of torch or of hone in a replay must not be
/// charged to the submission. A plan that fails in a measurement or in a confirmation run was replayed before. It could fail
/// on purpose to be measured once more.
bool leaves_plan(const History& history, const Finding& finding) {
  return finding.plan_failed && history.may_leave_plan && history.run == RunKind::kFirst &&
         history.mode == Mode::kRecordedModule;
}

Decision decision_of(Next next, Reason reason, const History& history) {
  Decision decision;
  decision.next = next;
  decision.reason = reason;
  decision.isolation = history.isolation;
  return decision;
}

/// A rerun with more isolation. It does not count as another attempt.
Decision isolate(const History& history, const Finding& finding, Reason reason, ProcessUse process,
                 DeviceUse device) {
  Decision decision;
  decision.next = Next::kRerun;
  decision.reason = reason;
  decision.isolation = {std::max(history.isolation.process, process),
                        std::max(history.isolation.device, device)};
  // A judge that did not answer is restarted, with the device exclusively.
  decision.keeps_lock =
      decision.isolation.device == history.isolation.device && finding.end != End::kNoAnswer;
  // Rationale: a submission can use up the memory of its own process. That must not reserve all memory for
  // its task.
  decision.task_is_large =
      reason == Reason::kDeviceMemory && finding.culprit != Culprit::kSubmission;
  return decision;
}

/// Whether a call in a check timed out.
bool is_slow_call(const Judgement& judged) {
  return judged.ending == Ending::kTimedOut && judged.where.place == Place::kCheck;
}

/// Whether other submissions' use of memory or time may have caused the failure.
bool may_be_contention(const Judgement& judged, const Result<Verdict>& scored, bool brings_code,
                       bool shared_check) {
  if (judged.ending == Ending::kDone) {
    // Without a trace of the call, the kernels that did the work are unknown.
    return judged.verdict.correct() && !judged.verdict.work && scored && !scored->correct();
  }
  if (judged.culprit != Culprit::kSubmission || judged.ending == Ending::kMismatch) return false;
  if (is_slow_call(judged)) return shared_check;
  const ExceptionCause cause = exception_cause(judged.message);
  // No context reaches another one's memory, and torch raises something else where it finds none for itself. Other code
  // may not have checked its allocations.
  const bool own_fault =
      cause == ExceptionCause::kKernelFault && judged.ending == Ending::kException && !brings_code;
  // A library that finds no memory for itself has many words for it; a mistake of the author's has Python's.
  return !own_fault && cause != ExceptionCause::kMistake;
}

/// Whether the plan may have caused the failure.
bool plan_failed(End end, const Judgement& judged, const Result<Verdict>& scored) {
  if (end == End::kVerdict) {
    const Outcome outcome = scored->outcome;
    return (outcome == Outcome::kCrashed || outcome == Outcome::kOutOfMemory) &&
           scored->stage != VerdictStage::kMeasure;
  }
  return (end == End::kKilled || end == End::kFault) && judged.culprit == Culprit::kSubmission &&
         judged.where.place != Place::kMeasurement;
}

/// Whether an earlier submission in the same process may have caused this result. Rationale: a wrong result, or a slow call,
/// is not doubtful, because the process has just answered a known question correctly (known_answer.hpp).
bool is_doubtful(const Judgement& judged) {
  if (is_slow_call(judged)) return false;
  if (judged.ending != Ending::kDone)
    return judged.culprit == Culprit::kSubmission || judged.culprit == Culprit::kKeptProcess;
  return judged.verdict.outcome == Outcome::kCheated;
}

End end_of(const DeviceResult& result, const Result<Verdict>& scored) {
  if (scored) return End::kVerdict;
  if (result.judgement.ending == Ending::kDone) return End::kNoise;
  if (result.judgement.ending == Ending::kStarved) return End::kStarved;
  if (result.exit && result.exit->killed_by_machine) return End::kKilledByMachine;
  return killed_without_cause(result) ? End::kKilled : End::kFault;
}

}  // namespace

bool killed_without_cause(const DeviceResult& result) {
  const auto& exit = result.exit;
  return exit && exit->signal == SIGKILL && !exit->out_of_memory && !exit->killed_by_machine;
}

/// Rationale: the known answer must not fail because other lanes use the device or its memory. A confirmation run may
/// share the device like a first run, because both are timed while no other lane has work on the device.
History begin_run(RunKind run, Mode mode, bool proves_faults) {
  History history;
  history.mode = mode;
  history.run = run;
  history.proves_faults = proves_faults;
  if (run != RunKind::kFirst) {
    const bool may_share = run == RunKind::kConfirmation && mode == Mode::kRecordedModule;
    history.isolation = {is_module(mode) ? ProcessUse::kOnly : ProcessUse::kFresh,
                         may_share ? DeviceUse::kShared : DeviceUse::kExclusive};
  } else if (!uses_lanes(mode)) {
    history.isolation.device = DeviceUse::kExclusive;
  }
  return history;
}

Decision decide(const History& history, const Finding& finding) {
  const Circumstances& seen = finding.circumstances;
  const ProcessUse process = history.isolation.process;
  const DeviceUse device = std::max(history.isolation.device, seen.device);
  if (finding.is_hopeless) return decision_of(Next::kFault, reason_of(finding.end), history);
  if (seen.kept_process && finding.is_doubtful && process == ProcessUse::kKept)
    return isolate(history, finding, Reason::kKeptProcess, ProcessUse::kFresh, DeviceUse::kShared);
  if (!seen.kept_process && finding.lacked_memory && seen.keeps_others &&
      process != ProcessUse::kOnly)
    return isolate(history, finding, Reason::kKeptMemory, ProcessUse::kOnly, DeviceUse::kShared);
  if (finding.lacked_memory && seen.memory_is_budgeted && device != DeviceUse::kAllMemory)
    return isolate(history, finding, Reason::kDeviceMemory, process, DeviceUse::kAllMemory);
  if (finding.may_be_contention && seen.met_others && device == DeviceUse::kShared)
    return isolate(history, finding, Reason::kContention, process, DeviceUse::kExclusive);

  const bool leaves = leaves_plan(history, finding);
  if (finding.end == End::kVerdict) {
    if (leaves) return decision_of(Next::kWithoutPlan, Reason::kPlan, history);
    const bool confirms = history.run == RunKind::kFirst && finding.is_too_good;
    return confirms ? decision_of(Next::kConfirm, Reason::kTooGood, history)
                    : decision_of(Next::kAccept, Reason::kNone, history);
  }

  const Reason reason = reason_of(finding.end);
  const bool was_killed = history.was_killed || finding.end == End::kKilled;
  const int attempts = history.run == RunKind::kKnownAnswer ? 1
                       : was_killed                         ? kAttemptsIfKilled
                                                            : kAttempts;
  if (history.attempts < attempts) {
    Decision decision = decision_of(Next::kRerun, reason, history);
    decision.isolation = {std::max(process, ProcessUse::kFresh),
                          std::max(device, DeviceUse::kExclusive)};
    return decision;
  }
  if (leaves) return decision_of(Next::kWithoutPlan, Reason::kPlan, history);
  return decision_of(may_be_provoked(history, finding) ? Next::kAskKnownAnswer : Next::kFault,
                     reason, history);
}

History rerun(History history, const Finding& finding, const Decision& decision) {
  // Rationale: a submission that recognises its bad luck could hang. A confirmation run gives it no other inputs.
  const bool may_change = history.run != RunKind::kConfirmation;
  if (decision.reason == Reason::kDeviceMemory ||
      (decision.reason == Reason::kContention && may_change))
    history.changes_inputs = true;
  history.isolation = decision.isolation;
  history.has_begun = history.has_begun || finding.circumstances.has_begun;
  ++history.evaluations;
  if (decision.reason < Reason::kNoise) return history;  // the same attempt
  ++history.attempts;
  history.was_killed = history.was_killed || finding.end == End::kKilled;
  history.failed_itself =
      history.failed_itself ||
      (finding.culprit == Culprit::kSubmission && finding.end != End::kStarved &&
       finding.end != End::kKilledByMachine && finding.end != End::kNoAnswer);
  return history;
}

BuildNext decide_build(int builds, bool known_is_built, const BuildFinding& finding) {
  if (!finding.has_answer && finding.is_hopeless) return BuildNext::kFault;
  if (finding.has_answer && !finding.is_doubtful && !known_is_built) return BuildNext::kAccept;
  if (builds < kAttempts && !known_is_built) return BuildNext::kBuildAgain;
  if (!finding.has_answer || finding.is_starved) return BuildNext::kFault;
  // A source that fails in each build without a mistake, also right after a known program was built, provoked it.
  return known_is_built ? BuildNext::kAccept : BuildNext::kBuildKnown;
}

Finding finding_of(const Evaluation& evaluation, const Result<Verdict>& scored, bool brings_code) {
  Finding finding;
  finding.circumstances = evaluation.circumstances;
  const Circumstances& seen = evaluation.circumstances;
  if (!evaluation.result) {
    const Code code = evaluation.result.error().code;
    finding.end = End::kNoAnswer;
    finding.is_hopeless = seen.gave_up || (code == Code::kDeadlineExceeded && !seen.has_begun);
    finding.is_doubtful = true;
    finding.lacked_memory = code == Code::kResourceExhausted;
    finding.plan_failed = code == Code::kFailedPrecondition;
    return finding;
  }
  const DeviceResult& result = *evaluation.result;
  const Judgement& judged = result.judgement;
  finding.end = end_of(result, scored);
  finding.culprit = judged.culprit;
  finding.is_doubtful = is_doubtful(judged);
  finding.failed_before_load =
      judged.ending == Ending::kFault && judged.where.place == Place::kLoading;
  // A process that could not open the device mostly lacked memory.
  finding.lacked_memory = judged.ending == Ending::kOutOfMemory || finding.failed_before_load;
  finding.may_be_contention = may_be_contention(judged, scored, brings_code, seen.shared_check);
  finding.plan_failed = plan_failed(finding.end, judged, scored);
  return finding;
}

}  // namespace hone
