// The conversation with one judge.
#include "evaluate/device.hpp"

#include <poll.h>

#include <algorithm>

#include "base/clock.hpp"
#include "base/crypto.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "channel/control.hpp"
#include "channel/stream.hpp"
#include "evaluate/rehearsal.hpp"
#include "evaluate/verdicts.hpp"
#include "judge/fill.hpp"

namespace hone {
namespace {

constexpr std::size_t kAnswerMax = 1u << 20;
constexpr double kSendSeconds = 10;
/// Twice a device's time slice: below one, who says too early that its work is done saves what it takes to start it.
constexpr double kModuleRoundMs = 4;
constexpr double kFewerPairs = 0.75;  // of such rounds
constexpr int kPairsLeast = 3;
constexpr int kEndingMs = 500;  // from the judge's notice of an end to the kernel's word for it

int fewer(int pairs) { return std::max(kPairsLeast, static_cast<int>(kFewerPairs * pairs)); }

/// The task without its sources, which judges have no use for.
Value task_for_judge(const Task& task) {
  Task bare = task;
  bare.backends.clear();
  return task_to_value(bare);
}

}  // namespace

bool has_ended(const Process& process, int wait_ms) {
  pollfd polled{process.pidfd(), POLLIN, 0};
  return poll(&polled, 1, wait_ms) > 0;
}

Device::Device(Launcher& launcher, WarmInterpreters& interpreters, BuildPool& builds,
               const EvaluatorOptions& options, DeviceSpec spec, Shared& shared)
    : launcher_(launcher),
      interpreters_(interpreters),
      builds_(builds),
      options_(options),
      spec_(std::move(spec)),
      shared_(shared),
      turn_(shared.turns) {}

Device::~Device() { stop_judge(); }

Status Device::start() {
  HONE_TRY(ensure_judge());
  refill(Kind::kCandidate);
  return {};
}

void Device::stop_judge() {
  // The judge goes first: it thaws what it holds, and then the launcher can end all of them.
  judge_socket_.reset();
  if (judge_ != nullptr) {
    judge_->kill();
    static_cast<void>(judge_->wait(kExitSeconds));
  }
  judge_.reset();
  owes_ = false;
  for (auto& [key, installed] : installed_) {
    let_go(std::move(installed.reference));
    let_go(std::move(installed.baseline));
  }
  installed_.clear();
  ages_.clear();
  for (auto& [owner, kept] : kept_) let_go(std::move(kept.process));
  kept_.clear();
  kept_ages_.clear();
}

Result<Value> Device::answer_to(const Status& sent,
                                const std::function<void(const char*)>& progress) {
  owes_ = true;
  if (!sent) return sent.error();
  HONE_ASSIGN(Value answer, receive(progress));
  owes_ = false;
  return answer;
}

Status Device::send(const Value& request, const std::vector<int>& fds) {
  return send_message(judge_socket_.get(), to_msgpack(request), fds, kSendSeconds);
}

Status Device::send(const Value& request, const Runner* runner, const std::string* artifact) {
  std::vector<int> fds;
  UniqueFd memory;
  if (artifact != nullptr) {
    HONE_ASSIGN(memory, memory_file("hone-artifact", *artifact));
    fds = {memory.get()};
  }
  if (runner != nullptr) {
    fds = {runner->socket.get(), memory.get(), runner->process->pidfd()};
    if (runner->process->freeze_fd() >= 0) {
      fds.push_back(runner->process->freeze_fd());
      fds.push_back(runner->process->frozen_events_fd());
    }
  }
  return send(request, fds);
}

Result<Value> Device::receive(const std::function<void(const char*)>& progress) {
  for (;;) {
    HONE_ASSIGN(const StreamMessage message,
                receive_message(judge_socket_.get(), kAnswerMax, options_.evaluation_seconds,
                                judge_->pidfd()));
    HONE_ASSIGN(Value answer, from_msgpack(message.bytes));
    if (kind_of(answer) == "end") {
      HONE_TRY(end_running());
      continue;
    }
    if (kind_of(answer) == "quiet") {
      HONE_TRY(answer_quiet());
      continue;
    }
    if (kind_of(answer) == "share") {
      const double from_s = monotonic_s();
      turn_.share();
      tell_waited(from_s);
      // For the next ones, while what was measured is checked. Native code that has the device whole does not ask again
      // before it is measured.
      if (!turn_.has_whole()) open_ahead();
      HONE_TRY(send(Value::map({{"verb", "share"}}), nullptr, nullptr));
      continue;
    }
    if (kind_of(answer) != "stage") return answer;
    const Value* stage = answer.find("stage");
    if (stage == nullptr || !stage->is_string()) continue;
    // The judge has its hands full, and measures nothing.
    if (*stage == Value("check")) start_missing(false);
    if (progress) progress(stage->as_string().c_str());
  }
}

/// The judge wants to measure.
Status Device::answer_quiet() {
  const double from_s = monotonic_s();
  wait_until_open(kOpenSeconds);
  turn_.have_alone();
  tell_waited(from_s);
  const Value answer = Value::map({{"verb", "quiet"}, {"others", turn_.beside_others()}});
  return send(answer, nullptr, nullptr);
}

/// The judge has seen enough of the submission, and wants it gone.
Status Device::end_running() {
  Process* process = nullptr;
  {
    MutexLock lock(mutex_);
    process = running_;
  }
  if (process == nullptr) return internal_error("the judge ended what does not run");
  process->kill();
  HONE_TRY(process->wait(kGoneSeconds));
  return send(Value::map({{"verb", "ended"}}), nullptr, nullptr);
}

Value Device::request(const char* verb, const Task& task, std::uint64_t seed,
                      MeasureSettings settings) const {
  // Half of our patience: the other half is for the reference, the baseline and a busy machine.
  settings.submission_seconds = 0.5 * options_.evaluation_seconds;
  // Rationale: an interpreter's time for a kernel says nothing of the kernel.
  if (!is_timed(task, options_)) settings.measure = false;
  if (options_.device_code && is_module(task, options_)) {
    settings.round_ms = std::max(settings.round_ms, kModuleRoundMs);
    settings.pairs_min = fewer(settings.pairs_min);
    settings.pairs_max = fewer(settings.pairs_max);
  }
  return Value::map({{"verb", verb},
                     {"task", task_for_judge(task)},
                     {"settings", settings_to_value(settings)},
                     {"seed", static_cast<std::int64_t>(seed)}});
}

Result<DeviceResult> Device::run(const DeviceJob& job) {
  begun_ = false;
  waited_ = job.waited;
  Result<DeviceResult> result = run_or_redo(job);
  waited_ = nullptr;
  return result;
}

Result<DeviceResult> Device::run_or_redo(const DeviceJob& job) {
  // Rationale: who looks again is to have nothing of others beside it, and native code does not stand still when it is told.
  const bool whole = job.whole || job.swapped || !is_module(*job.task, options_);
  // What a device does where there is nobody else is found out when its judge starts, and the fastest of baselines too.
  take_turn(whole || judge_ == nullptr ||
            (chooses_baseline(*job.task, options_) && !is_installed(*job.task)));
  if (is_over(job)) return unavailable("cancelled");
  Result<DeviceResult> result = run_in_turn(job);
  if (whole || is_over(job) || !redo_alone(job, result)) return result;
  log_info("evaluate", "task " + job.task->id + ": once more with nothing of others beside it: " +
                           result->judgement.message + result->judgement.verdict.reason);
  if (job.progress) job.progress("prepare");
  take_turn(true);
  if (is_over(job)) return unavailable("cancelled");
  DeviceJob again = job;
  again.seed = derive_seed(job.seed, "alone") >> 1;
  return run_in_turn(again);
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
void Device::take_turn(bool whole) {
  const double from_s = monotonic_s();
  await_last();
  if (whole || turn_.is_wanted() || turn_.has_whole()) rest();
  whole ? turn_.have_whole() : turn_.share();
  tell_waited(from_s);
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
  if (judged.ending != Ending::kDone && judged.culprit != "submission" &&
      judged.culprit != kKeptProcess)
    return result;
  log_info(
      "evaluate",
      "task " + job.task->id + ": once more in a fresh process; one that others have used said " +
          (judged.ending == Ending::kDone
               ? std::string(outcome_name(judged.verdict.outcome)) + ", " + judged.verdict.reason
               : std::string(ending_name(judged.ending)) + " in " + judged.where + ", " +
                     judged.message));
  return with_room(job, run_once(job, true, &used));
}

/// What a fresh process said, or what another one does where others' processes that were kept may have had what it lacked.
Result<DeviceResult> Device::with_room(const DeviceJob& job, Result<DeviceResult> result) {
  if (!result) return result;
  const Judgement& judged = result->judgement;
  const bool lacks = judged.ending == Ending::kOutOfMemory ||
                     (judged.ending == Ending::kFault && judged.where == "loading");
  bool used = false;
  return lacks && forget_all() ? run_once(job, true, &used) : std::move(result);
}

Result<DeviceResult> Device::run_once(const DeviceJob& job, bool fresh, bool* used) {
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
  Value ask = request("judge", *job.task, job.seed, settings);
  ask.set("reference", key + "/reference");
  ask.set("baseline", key + (is_timed(*job.task, options_) ? "/baseline" : "/reference"));
  ask.set("pid", process.pid()).set("plan", plan_to_value(job.plan)).set("module", module);
  ask.set("runner", runner.id).set("kept", *used).set("keeps", !fresh && !owner.empty());
  if (const auto vouched = shared_.vouched.find(key)) ask.set("vouched", *vouched);
  {
    MutexLock lock(mutex_);
    running_ = &process;
  }
  begun_ = true;
  const Result<Value> answer =
      answer_to(send(ask, *used ? nullptr : &made, &job.built->artifact), job.progress);
  {
    MutexLock lock(mutex_);
    running_ = nullptr;
  }
  if (!*used) runner.process = std::move(made.process);
  auto judgement = answer ? judgement_of(*answer) : answer.error().in("judge");
  if (!judgement) {
    let_go(std::move(runner.process));
    stop_judge();  // whatever state it is in, the next one starts afresh
    return judgement.error();
  }
  if (const Value* vouched = answer->find("vouched")) shared_.vouched.keep(key, *vouched);
  DeviceResult result{std::move(*judgement), std::nullopt, *used};
  const std::string& culprit = result.judgement.culprit;
  if (result.judgement.ending != Ending::kDone && culprit != "submission" &&
      culprit != kKeptProcess) {
    drop(key);
    forget_all();  // what these hold may be what was missing
  }
  const Value* kept = answer->find("kept");
  if (kept != nullptr && *kept == Value(true)) {
    ++runner.uses;
    if (!fresh && !owner.empty()) {
      keep(owner, std::move(runner));
      return result;
    }
    send_forget(runner.id);
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
  if (!done && ended && result.judgement.culprit == "submission") {
    if (auto exit = runner.process->wait(kExitSeconds); exit) result.exit = std::move(*exit);
  }
  let_go(std::move(runner.process));
}

void Device::close() {
  closed_ = true;
  cancel();
}

void Device::cancel() {
  MutexLock lock(mutex_);
  if (running_ != nullptr) running_->kill();
}

Status Device::known_answer(const std::shared_ptr<const Task>& task) {
  HONE_ASSIGN(const PlannedSource source, planned_baseline(*task, options_));
  HONE_ASSIGN(const auto built, builds_.build(source.build));
  DeviceJob job;
  job.task = task;
  job.built = built;
  job.plan = source.plan;
  job.seed = random_u64() >> 1;
  job.measure = false;
  job.swapped = true;  // in a fresh process
  HONE_ASSIGN(const DeviceResult result, run(job));
  if (result.judgement.ending == Ending::kDone && result.judgement.verdict.correct()) return {};
  return unavailable("the known answer was not judged correct: " + result.judgement.message +
                     result.judgement.verdict.reason);
}

}  // namespace hone
