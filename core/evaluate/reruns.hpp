// Reruns: how often, and why, a step's submission is built or evaluated again. Pure functions.
//
// Theory of operation. A step has a first run and, if that looks too good, a confirmation run. A run is one or more
// evaluations. After each, decide() says whether the result stands. If it does not, the next evaluation is isolated more,
// or is one more attempt. Isolation is never lowered within a run, and attempts have a limit, so a run ends:
//
//                      recorded plans        modules               native code
//   first run          1 + 2 + 2 + 2 = 7     1 + 2 + 2 + 2 = 7     1 + 2 + 1 + 2 = 6
//   confirmation run   1 + 1 + 2 + 2 = 6     1 + 0 + 1 + 2 = 4     1 + 1 + 1 + 2 = 5
//   known answer       1 + 1 + 1 + 0 = 3     1 + 0 + 1 + 0 = 2     1 + 1 + 1 + 0 = 3
//
// that is: one evaluation, and one more for each level that ProcessUse and DeviceUse can still rise, and for each attempt.
// Modules whose own host code uses a device have it exclusively, so their first run has 1 + 2 + 1 + 2 = 6.
//
// A first run is followed by a confirmation run, by a known answer, or, if a recorded plan failed, by the two runs of the
// module in a process of its own: 7 + 6 + 4 = 17. A step has one known answer at most, because it ends the step.
// A submission of which nothing was loaded, because the device's judge does not start, goes to another device once.
#pragma once

#include <string_view>

#include "base/enum_names.hpp"
#include "evaluate/evaluation.hpp"
#include "evaluate/mode.hpp"
#include "model/verdict.hpp"

namespace hone {

/// Most builds of a submission.
inline constexpr int kBuildsMax = 3;
/// Most evaluations of a step's submission, and of the known answer for it. reruns_test explores all histories.
inline constexpr int kEvaluationsMax = 17, kKnownAnswerEvaluationsMax = 3;

enum class RunKind {
  kFirst,
  kConfirmation,  ///< other seeds, the sides in the other order
  kKnownAnswer,   ///< the task's baseline in the submission's place: does this device judge right?
};

/// How an evaluation ended. All but kVerdict are faults, until decide() says otherwise.
enum class End {
  kVerdict,          ///< it can be scored
  kNoise,            ///< the machine is too noisy to measure
  kStarved,          ///< the submission got too little processor time
  kKilledByMachine,  ///< the kernel killed the submission, and the machine lacked memory
  kKilled,           ///< SIGKILL that nothing explains
  kFault,            ///< the judge blames something else, or cannot say what happened
  kNoAnswer,         ///< no judgement: the judge, the reference or the baseline failed
};

/// The facts about the last evaluation that the rules need.
struct Finding {
  End end = End::kVerdict;
  Culprit culprit = Culprit::kNone;
  Circumstances circumstances = {};
  bool is_hopeless = false;        ///< a further evaluation would wait in vain, too
  bool is_doubtful = false;        ///< an earlier submission in the same process may have caused it
  bool lacked_memory = false;      ///< some process found too little, or could not open the device
  bool may_be_contention = false;  ///< other submissions on the device may have caused it
  bool failed_before_load = false;  ///< nothing of the submission was loaded yet
  bool is_too_good = false;         ///< a verdict that is confirmed before it counts
  /// A recorded plan failed before it was measured, or the baseline's plan cannot be used.
  bool plan_failed = false;
};

enum class Reason {
  kNone,
  // Another process, or another use of the device. The submission may not be to blame.
  kKeptProcess,   ///< a process that earlier submissions have used gave a bad result
  kKeptMemory,    ///< memory was short while processes of earlier submissions were kept
  kDeviceMemory,  ///< device memory was short while other lanes kept some
  kContention,    ///< other lanes used the device, and it failed as if for that
  // A further attempt after a fault.
  kNoise,
  kStarved,
  kKilledByMachine,
  kKilled,
  kFault,
  kNoAnswer,
  // A further run.
  kTooGood,
  kPlan,  ///< a recorded plan could not be replayed
};

template <>
struct EnumNames<Reason> {
  static constexpr std::string_view kKind = "reason";
  static constexpr std::string_view kNames[] = {
      "none",    "kept_process",      "kept_memory", "device_memory", "contention", "noise",
      "starved", "killed_by_machine", "killed",      "fault",         "no_answer",  "too_good",
      "plan"};
  static_assert(are_complete(kNames, Reason::kPlan));
};

enum class Next {
  kAccept,          ///< the verdict counts
  kRerun,           ///< evaluate again, with Decision::isolation
  kConfirm,         ///< the verdict counts if a confirmation run agrees
  kWithoutPlan,     ///< a first run of the module follows, in a process of its own
  kAskKnownAnswer,  ///< if a known answer is judged right, the submission provoked the fault
  kFault,           ///< the step is not scored
};

struct Decision {
  Next next = Next::kAccept;
  Reason reason = Reason::kNone;
  Isolation isolation = {};  ///< of the next evaluation
  bool keeps_lock = false;   ///< the next evaluation goes on with the lock and memory of the last
  bool task_is_large =
      false;  ///< later submissions of the task get all of the device's memory at once
};

/// A run so far.
struct History {
  Mode mode = Mode::kNativeOnCpu;
  RunKind run = RunKind::kFirst;
  /// A SIGKILL without a cause counts as the submission's doing if a known answer is judged right (Defence::kProvenFaults).
  bool proves_faults = true;
  bool may_leave_plan =
      false;  ///< `modules: auto`: a module without a plan is judged in a process of its own
  Isolation isolation = {};    ///< of the last evaluation, or the next
  int evaluations = 1;         ///< the last, or next, one included
  int attempts = 1;            ///< likewise
  bool has_begun = false;      ///< the judge got the submission's process in an earlier attempt
  bool failed_itself = false;  ///< in an earlier attempt the submission's process failed
  bool was_killed = false;     ///< in an earlier attempt, by a SIGKILL that nothing explains
  bool changes_inputs =
      false;  ///< the next evaluation gets other inputs, because the submission has seen these
};

/// A run that begins.
History begin_run(RunKind run, Mode mode, bool proves_faults);
/// What follows the evaluation that `finding` is about.
Decision decide(const History& history, const Finding& finding);
/// The history before the next evaluation. Only for Next::kRerun.
History rerun(History history, const Finding& finding, const Decision& decision);

/// `scored`: the verdict of the evaluation, or why there is none. `brings_code`: the submission may have code that neither
/// torch nor Triton made.
Finding finding_of(const Evaluation& evaluation, const Result<Verdict>& scored, bool brings_code);
/// The facts about the last build of a submission that the rules need.
struct BuildFinding {
  bool has_answer = true;    ///< a builder answered
  bool is_hopeless = false;  ///< without an answer: this machine cannot build the submission
  bool is_doubtful = false;  ///< it failed, and nothing in the output is wrong with the source
  bool is_starved = false;   ///< the compiler got too little processor time or memory
};

enum class BuildNext {
  kAccept,  ///< the answer counts
  kBuildAgain,
  kBuildKnown,  ///< build a known program; if that succeeds, build again, and that answer counts
  kFault,       ///< the step is not scored
};

/// `builds`: of the submission, the last one included. `known_is_built`: a known program was built before the last one.
BuildNext decide_build(int builds, bool known_is_built, const BuildFinding& finding);

/// Whether the process ended by a SIGKILL that nothing explains: neither its memory limit nor the machine's lack of memory.
bool killed_without_cause(const DeviceResult& result);

}  // namespace hone
