// The conversation with one judge.
#include "evaluate/device.hpp"

#include <poll.h>

#include <algorithm>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "channel/control.hpp"

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
  const Mode mode = mode_of(task, options_);
  if (!is_timed(mode)) settings.measure = false;
  if (mode == Mode::kModuleOnDevice) {
    settings.round_ms = std::max(settings.round_ms, kModuleRoundMs);
    settings.pairs_min = fewer(settings.pairs_min);
    settings.pairs_max = fewer(settings.pairs_max);
  }
  return settings;
}

Evaluation Device::run(const DeviceJob& job) {
  circumstances_ = {};
  circumstances_.device = job.isolation.device;
  task_id_ = job.task->id;
  waited_ = job.waited;
  Result<DeviceResult> result = evaluate(job);
  waited_ = nullptr;
  if (!result && circumstances_.device == DeviceUse::kAllMemory)
    result = not_enough(*job.task, result.error());
  circumstances_.met_others = turn_.met_others();
  circumstances_.keeps_others = !kept_.empty();
  circumstances_.memory_is_budgeted = shared_.memory_bytes != 0;
  return {std::move(result), circumstances_};
}

Result<DeviceResult> Device::evaluate(const DeviceJob& job) {
  if (!job.keeps_lock) HONE_TRY(acquire(job));
  if (to_itself_) circumstances_.device = DeviceUse::kAllMemory;
  if (is_over(job)) return unavailable("cancelled");
  if (job.isolation.process == ProcessUse::kOnly) forget_all();
  return judge(job);
}

/// Gets the memory and the lock that the job needs.
Status Device::acquire(const DeviceJob& job) {
  HONE_ASSIGN(const MemoryPlace place, place_of(*job.task));
  const bool to_itself =
      place == MemoryPlace::kWhole || job.isolation.device == DeviceUse::kAllMemory;
  // Rationale: to make a large task ready takes seconds, and it goes when the device is shared again.
  const bool goes_on = to_itself && to_itself_ && turn_.has_whole() && is_installed(*job.task) &&
                       in_a_row_ < kInARowMax && !turn_.is_wanted();
  if (goes_on) {
    ++in_a_row_;
    return {};
  }
  HONE_TRY(claim_memory(job, to_itself));
  if (is_over(job)) return unavailable("cancelled");
  if (lacks_judge()) HONE_TRY(start_judge_alone());
  // Choosing the fastest baseline needs the device exclusively.
  HONE_TRY(take_turn(to_itself || job.isolation.device != DeviceUse::kShared ||
                     (chooses_baseline(*job.task, options_) && !is_installed(*job.task))));
  if (to_itself) have_to_itself();
  return {};
}

/// Rationale: a judge measures the device when it starts, so no other lane may use it then.
Status Device::start_judge_alone() {
  HONE_TRY(take_turn(true));
  ends_s_ = monotonic_s() + hold_seconds(options_);
  return ensure_judge();
}

bool Device::is_over(const DeviceJob& job) const {
  return closed_ || (job.over != nullptr && *job.over);
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
  circumstances_.gave_up = !taken;
  return taken;
}

void Device::tell_waited(double from_s) const {
  if (waited_) waited_(from_s, monotonic_s());
}

Result<DeviceResult> Device::judge(const DeviceJob& job) {
  const bool fresh = job.isolation.process != ProcessUse::kKept;
  ends_s_ = monotonic_s() + hold_seconds(options_);
  await_last();
  HONE_TRY(ensure_judge());
  HONE_ASSIGN(const std::string key, ensure_installed(job.task));
  Runner made;
  const bool module = is_module(job.mode);
  const std::string owner = owner_of(job);
  Kept runner = take_kept(owner, fresh);
  const bool used = runner.process != nullptr;
  circumstances_.kept_process = used;
  if (!used) {
    HONE_ASSIGN(made, take(module ? Kind::kModule : Kind::kCandidate));
    if (module) ++module_processes_;
    runner.id = ++last_runner_;
  }
  Process& process = used ? *runner.process : *made.process;
  MeasureSettings settings = options_.measure;
  settings.measure = job.measure;
  settings.swapped = job.swapped;
  settings.submission_seconds = submission_seconds(options_, job.limit_s);
  JudgeRequest request;
  request.reference = installed_key(key, TrustedRole::kReference);
  request.baseline =
      installed_key(key, is_timed(job.mode) ? TrustedRole::kBaseline : TrustedRole::kReference);
  request.module = module;
  request.runner = runner.id;
  request.kept = used;
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
  circumstances_.has_begun = true;
  set_work("load");
  const HandedProcess handed{process, made.socket.get()};
  Result<JudgedReply> judged =
      judge_.judge(std::move(request), used ? nullptr : &handed, job.built->artifact,
                   [&](JudgeStage stage) { begin_stage(stage, job); });
  {
    MutexLock lock(mutex_);
    running_ = nullptr;
  }
  if (!used) runner.process = std::move(made.process);
  if (!judged) {
    {
      MutexLock lock(state_mutex_);
      let_go(std::move(runner.process));
    }
    stop_judge();  // whatever state it is in, the next one starts afresh
    return judged.error().in("judge");
  }
  if (judged->vouched) shared_.vouched.keep(key, *judged->vouched);
  DeviceResult result{std::move(judged->judgement), std::nullopt};
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

}  // namespace hone
