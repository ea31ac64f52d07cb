// The conversation with one judge.
#include "evaluate/device.hpp"

#include <poll.h>

#include <algorithm>

#include "base/crypto.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "channel/control.hpp"
#include "channel/stream.hpp"

namespace hone {
namespace {

constexpr std::size_t kAnswerMax = 1u << 20;
constexpr double kSendSeconds = 10;
constexpr const char* kHeapWords[] = {"malloc", "hidden_heap", "hidden_hostcall"};
constexpr int kEndingMs = 500;  // from the judge's notice of an end to the kernel's word for it

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
               const EvaluatorOptions& options, DeviceSpec spec)
    : launcher_(launcher),
      interpreters_(interpreters),
      builds_(builds),
      options_(options),
      spec_(std::move(spec)) {}

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
  installed_.clear();
  ages_.clear();
  kept_.clear();
  kept_ages_.clear();
}

Result<Value> Device::ask(const Value& request, const std::vector<int>& fds,
                          const std::function<void(const char*)>& progress) {
  HONE_TRY(send_message(judge_socket_.get(), to_msgpack(request), fds, kSendSeconds));
  return receive(progress);
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
  return send_message(judge_socket_.get(), to_msgpack(request), fds, kSendSeconds);
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
      wait_until_open();
      HONE_TRY(send(Value::map({{"verb", "quiet"}}), nullptr, nullptr));
      continue;
    }
    if (kind_of(answer) != "stage") return answer;
    const Value* stage = answer.find("stage");
    if (stage == nullptr || !stage->is_string()) continue;
    if (progress) progress(stage->as_string().c_str());
  }
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
  return Value::map({{"verb", verb},
                     {"task", task_for_judge(task)},
                     {"settings", settings_to_value(settings)},
                     {"seed", static_cast<std::int64_t>(seed)}});
}

/// Rationale: what a process that others' code has used before says of a submission's end, and that it cheated, counts
/// once a fresh one says it too. A wrong answer counts: it has just given a right one to the judge (known_answer.hpp), and
/// many are wrong. Nor do we trust its praise: a new best is looked at again, in a fresh one (second_look.hpp).
Result<DeviceResult> Device::run(const DeviceJob& job) {
  cancelled_ = false;
  bool used = false;
  const bool fresh = job.swapped || !keeps(*job.task) || leaves_state(job);
  Result<DeviceResult> result = run_once(job, fresh, &used);
  const bool bad = !result || result->judgement.ending != Ending::kDone ||
                   result->judgement.verdict.outcome == Outcome::kCheated ||
                   !result->judgement.verdict.caught.empty();
  if (!used || !bad || cancelled_) return result;
  const std::string culprit = result ? result->judgement.culprit : "";
  if (culprit == kKeptProcess)
    log_info("evaluate",
             "a kept process was given up at the known answer: " + result->judgement.message);
  const bool again = !result || result->judgement.ending == Ending::kDone ||
                     culprit == "submission" || culprit == kKeptProcess;
  return again ? run_once(job, true, &used) : result;
}

/// Rationale: where device code reaches all memory of its process, it reaches our own code there, and
/// the next submission's process must not be its work. A module's host code always does.
bool Device::keeps(const Task& task) const {
  const Value* reachable = facts_.find("host_memory_reachable");
  return options_.device_code && options_.isolation != "fresh" && !is_module(task, options_) &&
         (reachable == nullptr || *reachable != Value(true));
}

/// Rationale: a context's heap outlives an artifact, as does the word at which the blocks of a cooperative launch wait for
/// each other, and nobody can scrub them. The next submission of the client, another sample of the same model, must not
/// find the heap full. Code for AMD's devices calls no malloc by that name: it says that it wants a heap, or, before ROCm
/// 5.3, a way to call the host, which its malloc went.
bool Device::leaves_state(const DeviceJob& job) const {
  if (!options_.device_code || !options_.measure.defences.holds(Defence::kOwnHeap)) return false;
  const std::string& artifact = job.built->artifact;
  const auto& launches = job.plan.launches;
  return std::any_of(std::begin(kHeapWords), std::end(kHeapWords),
                     [&](const char* word) { return artifact.find(word) != std::string::npos; }) ||
         std::any_of(launches.begin(), launches.end(),
                     [](const PlanLaunch& launch) { return launch.cooperative; });
}

Result<DeviceResult> Device::run_once(const DeviceJob& job, bool fresh, bool* used) {
  await_last();
  HONE_TRY(ensure_judge());
  const auto give_up = [&](const Error& error) {
    stop_judge();  // whatever state it is in, the next one starts afresh
    return error;
  };
  auto key = ensure_installed(job.task);
  if (!key) return give_up(key.error());
  Kept runner;
  Runner made;
  *used = false;
  const bool module = is_module(*job.task, options_);
  if (const auto found = kept_.find(job.client);
      options_.device_code && !module && found != kept_.end()) {
    if (fresh || found->second.uses >= options_.runner_uses) {
      forget(job.client);
    } else {
      runner = std::move(found->second);
      kept_ages_.remove(job.client);
      kept_.erase(found);
      *used = true;
    }
  }
  if (!*used) {
    HONE_ASSIGN(made, take(module ? Kind::kModule : Kind::kCandidate));
    runner.id = ++last_runner_;
  }
  Process& process = *used ? *runner.process : *made.process;
  MeasureSettings settings = options_.measure;
  settings.measure = job.measure;
  settings.swapped = job.swapped;
  Value ask = request("judge", *job.task, job.seed, settings);
  ask.set("reference", *key + "/reference");
  ask.set("baseline", *key + (is_timed(*job.task, options_) ? "/baseline" : "/reference"));
  ask.set("pid", process.pid()).set("plan", plan_to_value(job.plan)).set("module", module);
  ask.set("runner", runner.id).set("kept", *used);
  {
    MutexLock lock(mutex_);
    running_ = &process;
  }
  Status sent = send(ask, *used ? nullptr : &made, &job.built->artifact);
  Result<Value> answer = sent ? receive(job.progress) : Result<Value>(sent.error());
  {
    MutexLock lock(mutex_);
    running_ = nullptr;
  }
  if (!*used) runner.process = std::move(made.process);
  if (!answer) {
    runner.process->kill();
    return give_up(answer.error().in("judge"));
  }
  auto judgement = judgement_of(*answer);
  if (!judgement) return give_up(judgement.error());
  DeviceResult result{std::move(*judgement), std::nullopt};
  const std::string& culprit = result.judgement.culprit;
  if (result.judgement.ending != Ending::kDone && culprit != "submission" &&
      culprit != kKeptProcess) {
    drop(*key);
    // What these hold may be what was missing.
    while (!kept_.empty()) forget(std::string(kept_ages_.back()));
  }
  put_away(job.client, std::move(runner), fresh, result);
  return result;
}

/// Keeps the process for the client's next submission, or ends it.
void Device::put_away(const std::string& client, Kept runner, bool fresh, DeviceResult& result) {
  const bool done = result.judgement.ending == Ending::kDone;
  ++runner.uses;
  if (options_.device_code && done && !fresh) return keep(client, std::move(runner));
  if (options_.device_code && done) send_forget(runner.id);  // of a module it keeps none
  // Rationale: the signal that ends it now is ours, and says nothing of how it ended.
  const bool ended =
      has_ended(*runner.process, result.judgement.ending == Ending::kDied ? kEndingMs : 0);
  runner.process->kill();
  if (!done && ended && result.judgement.culprit == "submission") {
    if (auto exit = runner.process->wait(kExitSeconds); exit) result.exit = std::move(*exit);
  }
  if (options_.device_code) leaving_ = std::move(runner.process);
}

void Device::send_forget(std::int64_t id) {
  static_cast<void>(send(Value::map({{"verb", "forget"}, {"runner", id}}), nullptr, nullptr));
}

void Device::forget(const std::string& client) {
  const auto found = kept_.find(client);
  if (found == kept_.end()) return;
  send_forget(found->second.id);
  kept_ages_.remove(client);
  kept_.erase(found);
}

void Device::keep(const std::string& client, Kept kept) {
  while (kept_.size() >= options_.runners_max) forget(std::string(kept_ages_.back()));
  kept_.insert_or_assign(client, std::move(kept));
  kept_ages_.push_front(client);
}

void Device::cancel() {
  cancelled_ = true;
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

Result<Value> Device::admit(const std::shared_ptr<const Task>& task, std::uint64_t seed) {
  HONE_TRY(ensure_judge());
  const auto key = ensure_installed(task);
  if (!key) {
    stop_judge();  // as in run_once()
    return key.error();
  }
  Value ask = request("admit", *task, seed, options_.measure);
  ask.set("reference", *key + "/reference");
  HONE_TRY(send(ask, nullptr, nullptr));
  HONE_ASSIGN(const Value answer, receive({}));
  if (const Value* report = answer.find("report")) return *report;
  HONE_ASSIGN(const Judgement judgement, judgement_of(answer));
  return internal_error("admission of " + task->id + ": " + judgement.message);
}

}  // namespace hone
