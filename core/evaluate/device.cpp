// The conversation with one judge.
#include "evaluate/device.hpp"

#include <poll.h>

#include <algorithm>

#include "base/clock.hpp"
#include "base/crypto.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "channel/control.hpp"
#include "evaluate/rehearsal.hpp"
#include "evaluate/verdicts.hpp"
#include "judge/fill.hpp"

namespace hone {
namespace {

/// Twice a device's time slice: below one, who says too early that its work is done saves what it takes to start it.
constexpr double kModuleRoundMs = 4;
constexpr double kFewerPairs = 0.75;  // of such rounds
constexpr int kPairsLeast = 3;
constexpr double kSubmissionLeastS = 0.1;  // MeasureSettings::fields' bound
constexpr int kEndingMs = 500;  // from the judge's notice of an end to the kernel's word for it

constexpr double kHoldFactor = 2;  // half for making the task ready

/// "lane 2", with the device's number where there are several.
std::string lane_name(const EvaluatorOptions& options, const DeviceSpec& spec, std::size_t before) {
  const std::string lane = "lane " + std::to_string(before + 1);
  return options.devices.size() > 1 ? "device " + std::to_string(spec.index) + " " + lane : lane;
}

int fewer(int pairs) { return std::max(kPairsLeast, static_cast<int>(kFewerPairs * pairs)); }

/// How long all calls of a submission may take together. Half of an evaluation: the other half is for the reference, the
/// baseline and a busy machine. A third of its client's time limit, so that it cannot let that limit pass, with its
/// confirmation run: a step past its deadline is not scored, a submission over its time is.
double submission_seconds(const EvaluatorOptions& options, double limit_s) {
  return std::max(kSubmissionLeastS, std::min(0.5 * options.evaluation_seconds, limit_s / 3));
}

}  // namespace

bool has_ended(const Process& process, int wait_ms) {
  pollfd polled{process.pidfd(), POLLIN, 0};
  return poll(&polled, 1, wait_ms) > 0;
}

double hold_seconds(const EvaluatorOptions& options) {
  return kHoldFactor * options.evaluation_seconds;
}

Device::Device(Launcher& launcher, WarmInterpreters& interpreters, BuildPool& builds,
               const EvaluatorOptions& options, DeviceSpec spec, Shared& shared)
    : launcher_(launcher),
      interpreters_(interpreters),
      builds_(builds),
      options_(options),
      spec_(std::move(spec)),
      shared_(shared),
      turn_(shared.turns, lane_name(options, spec_, shared.lanes.size())),
      lane_(shared.ledger.add_lane(turn_.lane())),
      judge_(turn_.lane(), options.evaluation_seconds, judge_callbacks()) {
  shared_.lanes.push_back(this);
}

Device::~Device() { stop_judge(); }

Status Device::start() {
  HONE_TRY(ensure_judge());
  refill(Kind::kCandidate);
  return {};
}

MeasureSettings Device::settings_for(const Task& task, MeasureSettings settings) const {
  // Rationale: an interpreter's time for a kernel says nothing of the kernel.
  if (!is_timed(task, options_)) settings.measure = false;
  if (options_.device_code && is_module(task, options_)) {
    settings.round_ms = std::max(settings.round_ms, kModuleRoundMs);
    settings.pairs_min = fewer(settings.pairs_min);
    settings.pairs_max = fewer(settings.pairs_max);
  }
  return settings;
}

Result<DeviceResult> Device::run(const DeviceJob& job) {
  begun_ = gave_up_ = false;
  waited_ = job.waited;
  Result<DeviceResult> result = run_or_redo(job);
  waited_ = nullptr;
  return result;
}

Result<DeviceResult> Device::run_or_redo(const DeviceJob& job) {
  task_id_ = job.task->id;
  HONE_ASSIGN(const MemoryPlace place, place_of(*job.task));
  // Rationale: who looks again is to have nothing of others beside it, and native code does not stand still when it is told.
  const bool whole = job.whole || job.swapped || !is_module(*job.task, options_);
  const bool to_itself = place == MemoryPlace::kWhole;
  Result<DeviceResult> result = attempt(job, whole, to_itself);
  if (is_over(job)) return result;
  const Shortage found = shortage_of(result);
  switch (after_shortage(found)) {
    case AfterShortage::kRepeatAlone: {
      if (!found.of_submission) note_short(*job.task);
      result = repeat(job, true, "memory of the device was short");
      const bool still = after_shortage(shortage_of(result)) == AfterShortage::kNotScored;
      return !result && still ? not_enough(*job.task, result.error()) : std::move(result);
    }
    case AfterShortage::kNotScored:
      return result ? std::move(result) : not_enough(*job.task, result.error());
    case AfterShortage::kStands:
      break;
  }
  if (whole || to_itself || !redo_alone(job, result)) return result;
  return repeat(job, false, result->judgement.message + result->judgement.verdict.reason);
}

/// One attempt, in a turn of the kind that it needs.
Result<DeviceResult> Device::attempt(const DeviceJob& job, bool whole, bool to_itself) {
  // Rationale: to make a large task ready takes seconds, and it goes when the device is shared again.
  const bool goes_on = to_itself && to_itself_ && turn_.has_whole() && is_installed(*job.task) &&
                       in_a_row_ < kInARowMax && !turn_.is_wanted();
  if (goes_on) {
    ++in_a_row_;
  } else {
    HONE_TRY(claim_memory(job, to_itself));
    if (is_over(job)) return unavailable("cancelled");
    if (lacks_judge()) HONE_TRY(start_judge_alone());
    // Choosing the fastest baseline needs the device exclusively.
    HONE_TRY(take_turn(whole || to_itself ||
                       (chooses_baseline(*job.task, options_) && !is_installed(*job.task))));
    if (to_itself) have_to_itself();
  }
  if (is_over(job)) return unavailable("cancelled");
  return run_in_turn(job);
}

/// Rationale: a judge measures the device when it starts, so no other lane may use it then.
Status Device::start_judge_alone() {
  HONE_TRY(take_turn(true));
  ends_s_ = monotonic_s() + hold_seconds(options_);
  return ensure_judge();
}

Result<DeviceResult> Device::repeat(const DeviceJob& job, bool to_itself, const std::string& why) {
  log_info("evaluate", "task " + job.task->id + ": once more with nothing of others beside it" +
                           (to_itself ? ", and all of the device's memory: " : ": ") + why);
  if (job.progress) job.progress(JudgeStage::kPrepare);
  DeviceJob again = job;
  again.seed = derive_seed(job.seed, "alone") >> 1;
  return attempt(again, true, to_itself);
}

bool Device::is_over(const DeviceJob& job) const {
  return closed_ || (job.over != nullptr && *job.over);
}

/// Whether what others had of the device's memory or time may be to blame.
bool Device::redo_alone(const DeviceJob& job, const Result<DeviceResult>& result) const {
  if (!result || !turn_.met_others()) return false;
  const Judgement& judged = result->judgement;
  const std::string& artifact = job.built->artifact;
  if (judged.ending != Ending::kDone)
    return may_be_others_doing(
        judged, may_bring_code(artifact.substr(0, artifact.find('\n'))));  // then what it compiled
  // A call that could not be watched says nothing of whose work it was.
  return judged.verdict.correct() && !judged.verdict.work &&
         !with_policy(*job.task, judged.verdict, job.built->rehearsed).correct();
}

/// Nothing of this lane's own is on the device but what stands still.
Status Device::take_turn(bool whole) {
  const double from_s = monotonic_s();
  set_work("wait for a turn with");
  if (whole || turn_.is_wanted() || turn_.has_whole()) {
    leave_turn();
  } else {
    MutexLock lock(state_mutex_);
    await_last();
  }
  const Status taken = whole ? turn_.have_whole() : turn_.share();
  tell_waited(from_s);
  gave_up_ = !taken;
  return taken;
}

void Device::tell_waited(double from_s) const {
  if (waited_) waited_(from_s, monotonic_s());
}

/// Rationale: what a process that others' code has used before says of a submission's end, and that it cheated, counts
/// once a fresh one says it too. A wrong answer of device code counts: its process has just given a right one to the judge
/// (known_answer.hpp), and many are wrong; of a module, whose host code may have left anything there, none does. Nor do we
/// trust its praise: a new best is looked at again, in a fresh one (second_look.hpp).
Result<DeviceResult> Device::run_in_turn(const DeviceJob& job) {
  bool used = false;
  // Rationale: nor is there anything of others beside one that looks again.
  const bool module = is_module(*job.task, options_);
  if (job.swapped && module) forget_all();
  Result<DeviceResult> result = run_once(job, job.swapped, &used);
  if (is_over(job)) return result;
  if (!used) return with_room(job, std::move(result));
  if (!result) return run_once(job, true, &used);
  const Judgement& judged = result->judgement;
  // Whose work it was is the process' word, too.
  const bool doubtful =
      module ? !with_policy(*job.task, judged.verdict, job.built->rehearsed).correct()
             : judged.verdict.outcome == Outcome::kCheated;
  if (judged.ending == Ending::kDone && !doubtful) return result;
  if (judged.ending != Ending::kDone && judged.culprit != Culprit::kSubmission &&
      judged.culprit != Culprit::kKeptProcess)
    return result;
  log_info(
      "evaluate",
      "task " + job.task->id + ": once more in a fresh process; one that others have used said " +
          (judged.ending == Ending::kDone
               ? std::string(outcome_name(judged.verdict.outcome)) + ", " + judged.verdict.reason
               : std::string(enum_name(judged.ending)) + in_where(judged.where) + ", " +
                     judged.message));
  return with_room(job, run_once(job, true, &used));
}

/// What a fresh process said, or what another one does where others' processes that were kept may have had what it lacked.
Result<DeviceResult> Device::with_room(const DeviceJob& job, Result<DeviceResult> result) {
  if (!result) return result;
  const Judgement& judged = result->judgement;
  const bool lacks = judged.ending == Ending::kOutOfMemory ||
                     (judged.ending == Ending::kFault && judged.where.place == Place::kLoading);
  bool used = false;
  return lacks && forget_all() ? run_once(job, true, &used) : std::move(result);
}

Result<DeviceResult> Device::run_once(const DeviceJob& job, bool fresh, bool* used) {
  ends_s_ = monotonic_s() + hold_seconds(options_);
  await_last();
  HONE_TRY(ensure_judge());
  HONE_ASSIGN(const std::string key, ensure_installed(job.task));
  Runner made;
  const bool module = is_module(*job.task, options_);
  const std::string owner = owner_of(job);
  Kept runner = take_kept(owner, fresh);
  *used = runner.process != nullptr;
  if (!*used) {
    HONE_ASSIGN(made, take(module ? Kind::kModule : Kind::kCandidate));
    if (module) ++module_processes_;
    runner.id = ++last_runner_;
  }
  Process& process = *used ? *runner.process : *made.process;
  MeasureSettings settings = options_.measure;
  settings.measure = job.measure;
  settings.swapped = job.swapped;
  settings.submission_seconds = submission_seconds(options_, job.limit_s);
  JudgeRequest request;
  request.reference = installed_key(key, TrustedRole::kReference);
  request.baseline = installed_key(
      key, is_timed(*job.task, options_) ? TrustedRole::kBaseline : TrustedRole::kReference);
  request.module = module;
  request.runner = runner.id;
  request.kept = *used;
  request.keeps = !fresh && !owner.empty();
  request.task = without_sources(*job.task);
  request.settings = settings_for(*job.task, settings);
  request.seed = static_cast<std::int64_t>(job.seed);
  request.plans[Form::kEntry] = job.plan;
  request.vouched = shared_.vouched.find(key);
  {
    MutexLock lock(mutex_);
    running_ = &process;
  }
  begun_ = true;
  set_work("load");
  const HandedProcess handed{process, made.socket.get()};
  Result<JudgedReply> judged =
      judge_.judge(std::move(request), *used ? nullptr : &handed, job.built->artifact,
                   [&](JudgeStage stage) { begin_stage(stage, job); });
  {
    MutexLock lock(mutex_);
    running_ = nullptr;
  }
  if (!*used) runner.process = std::move(made.process);
  if (!judged) {
    {
      MutexLock lock(state_mutex_);
      let_go(std::move(runner.process));
    }
    stop_judge();  // whatever state it is in, the next one starts afresh
    return judged.error().in("judge");
  }
  if (judged->vouched) shared_.vouched.keep(key, *judged->vouched);
  DeviceResult result{std::move(judged->judgement), std::nullopt, *used};
  const Culprit culprit = result.judgement.culprit;
  if (result.judgement.ending != Ending::kDone && culprit != Culprit::kSubmission &&
      culprit != Culprit::kKeptProcess) {
    drop(key);
    forget_all();  // what these hold may be what was missing
  }
  if (judged->kept) {
    ++runner.uses;
    if (!fresh && !owner.empty()) {
      keep(owner, std::move(runner));
      return result;
    }
    judge_.forget(runner.id);
  }
  put_away(std::move(runner), result);
  return result;
}

/// Ends the process.
void Device::put_away(Kept runner, DeviceResult& result) {
  const bool done = result.judgement.ending == Ending::kDone;
  // Rationale: the signal that ends it now is ours, and says nothing of how it ended.
  const bool ended =
      has_ended(*runner.process, result.judgement.ending == Ending::kDied ? kEndingMs : 0);
  runner.process->kill();
  if (!done && ended && result.judgement.culprit == Culprit::kSubmission) {
    if (auto exit = runner.process->wait(kExitSeconds); exit) result.exit = std::move(*exit);
  }
  let_go(std::move(runner.process));
}

void Device::close() {
  closed_ = true;
  cancel();
}

void Device::cancel() {
  {
    MutexLock lock(mutex_);
    if (running_ != nullptr) running_->kill();
  }
  shared_.ledger.wake();
}

Status Device::known_answer(const std::shared_ptr<const Task>& task, bool measure) {
  HONE_ASSIGN(const PlannedSource source, planned_baseline(*task, options_));
  HONE_ASSIGN(const auto built, builds_.build(source.build));
  DeviceJob job;
  job.task = task;
  job.built = built;
  job.plan = source.plans.at(Form::kEntry);
  job.seed = random_u64() >> 1;
  job.measure = measure;
  job.swapped = true;  // in a fresh process
  HONE_ASSIGN(const DeviceResult result, run(job));
  if (result.judgement.ending == Ending::kDone && result.judgement.verdict.correct()) return {};
  return unavailable("the known answer was not judged correct: " + result.judgement.message +
                     result.judgement.verdict.reason);
}

}  // namespace hone
