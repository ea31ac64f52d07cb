// One evaluation: memory and lock, judge and task, process and verdict.
#include "evaluate/device.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "evaluate/sources.hpp"
#include "judge_protocol/defences.hpp"

namespace hone {
namespace {

constexpr double kSubmissionLeastS = 0.1;  // lower bound of submission_seconds in MeasureSettings
// Added to the limit of a plan's first call: libraries start, and configurations are chosen (recorded/tuning.hpp).
constexpr double kFirstCallS = 10;
// Added for each operator in a plan, and for each kernel of torch. Its process calls the operators in Python to make a graph for new addresses.
constexpr double kOperatorS = 1e-3;
constexpr double kSharedCheckS = kSlowCallSeconds / 4;  // see Circumstances::shared_check
constexpr int kEndingMs = 500;     // from the judge's report of a process' end to the kernel's
constexpr double kHoldFactor = 2;  // an evaluation, and as much time again to prepare its task

/// "lane 2", with the device's number if there are several.
std::string lane_name(const EvaluatorOptions& options, const DeviceSpec& spec, std::size_t before) {
  const std::string lane = "lane " + std::to_string(before + 1);
  return options.devices.size() > 1 ? "device " + std::to_string(spec.index) + " " + lane : lane;
}

/// Time limit of all calls of a submission together. It is half of an evaluation; the other half is for the
/// reference, the baseline and a busy machine. It is also at most a third of the step's time limit, so that
/// the submission and its confirmation run cannot exceed that. Rationale: a step past its deadline is not
/// scored, but a submission over its limit is.
double submission_seconds(const EvaluatorOptions& options, double limit_s) {
  return std::max(kSubmissionLeastS, std::min(0.5 * options.evaluation_seconds, limit_s / 3));
}

JudgeRequest request_of(const DeviceJob& job, const EvaluatorOptions& options,
                        const std::string& key) {
  MeasureSettings settings = options.measure;
  settings.measure = job.measure;
  settings.shown_only = job.shown_only;
  settings.swapped = job.swapped;
  settings.submission_seconds = submission_seconds(options, job.limit_s);
  if (const RecordedPlan* plan = job.built->plan.get(); plan != nullptr) {
    if (plan->has_operators || !plan->tuned.empty()) settings.added_first_seconds = kFirstCallS;
    for (const auto& [name, count] : plan->work.operators)
      settings.added_call_seconds += kOperatorS * static_cast<double>(count);
  }
  JudgeRequest request;
  request.reference = installed_key(key, TrustedRole::kReference);
  request.baseline =
      installed_key(key, is_timed(job.mode) ? TrustedRole::kBaseline : TrustedRole::kReference);
  request.module = is_module(job.mode);
  request.task = without_sources(*job.task);
  request.settings = settings_of(job.mode, settings);
  request.seed = static_cast<std::int64_t>(job.seed);
  request.plans[Form::kEntry] = job.plan;
  return request;
}

ProcessPool::Kind kind_of(const DeviceJob& job) {
  return is_module(job.mode) ? ProcessPool::Kind::kModule
                             : kind_without_python(*job.built, job.mode);
}

bool is_of_submission(const Judgement& judgement) {
  return judgement.ending == Ending::kDone || judgement.culprit == Culprit::kSubmission ||
         judgement.culprit == Culprit::kKeptProcess;
}

}  // namespace

double hold_seconds(const EvaluatorOptions& options) {
  return kHoldFactor * options.evaluation_seconds;
}

Device::Device(Launcher& launcher, Zygotes& zygotes, BuildPool& builds,
               const EvaluatorOptions& options, DeviceSpec spec, SharedByLanes& shared)
    : launcher_(launcher),
      builds_(builds),
      options_(options),
      spec_(std::move(spec)),
      shared_(shared),
      lock_(shared.lock, lane_name(options, spec_, shared.lanes.size())),
      work_(lock_),
      lane_(shared.ledger.add_lane(lock_.lane())),
      judge_(lock_.lane(), options.evaluation_seconds, judge_callbacks()),
      pool_(launcher, zygotes, options, spec_, lock_.lane()),
      kept_(judge_, options),
      slots_(judge_, pool_, builds, options, shared.findings,
             [this](const std::string& step) { work_.set_step(step); }) {
  shared_.lanes.push_back(this);
}

Device::~Device() { stop_judge(); }

/// If it starts a process that reads counters, the lane shares the device until the process has opened it: rest() waits for that.
Status Device::start() {
  if (options_.counters_ahead == CountersAhead::kFromStart) keep_player();
  HONE_TRY(ensure_judge());
  pool_.refill(ProcessPool::Kind::kCandidate);
  if (options_.counters_ahead == CountersAhead::kAfterFirst) return {};
  HONE_TRY(lock_.share());
  pool_.make_player_ready(false);
  return {};
}

void Device::start_again() {
  work_.begin("");
  work_.set_step("start the judge again with");
  static_cast<void>(start_judge_exclusively());  // problem() has the error
  rest();
}

bool Device::has_ready(const std::string& task_key) const {
  MutexLock lock(state_mutex_);
  return slots_.has(task_key);
}

std::set<std::string> Device::ready_tasks() const {
  MutexLock lock(state_mutex_);
  return slots_.keys();
}

Evaluation Device::run(const DeviceJob& job) {
  circumstances_ = {};
  circumstances_.device = job.isolation.device;
  work_.begin(job.task->id, job.waited);
  Result<DeviceResult> result = evaluate(job);
  work_.begin(job.task->id);
  if (!result && result.error().code == Code::kResourceExhausted &&
      circumstances_.device == DeviceUse::kAllMemory) {
    result = shared_.memory.not_enough(*job.task, result.error());
    circumstances_.gave_up = result.error().code == Code::kFailedPrecondition;
  }
  circumstances_.met_others = lock_.had_neighbours();
  circumstances_.keeps_others = !kept_.is_empty();
  circumstances_.memory_is_budgeted = shared_.memory.is_budgeted();
  return {std::move(result), circumstances_};
}

Result<DeviceResult> Device::evaluate(const DeviceJob& job) {
  if (!job.keeps_lock) HONE_TRY(acquire(job));
  if (has_all_memory_) circumstances_.device = DeviceUse::kAllMemory;
  if (is_over(job)) return unavailable("cancelled");
  if (job.isolation.process == ProcessUse::kOnly) kept_.forget_all();
  return judge(job);
}

bool Device::is_over(const DeviceJob& job) const {
  return closed_ || (job.over != nullptr && *job.over);
}

Result<DeviceResult> Device::judge(const DeviceJob& job) {
  const bool fresh = job.isolation.process != ProcessUse::kKept;
  work_.allow(hold_seconds(options_));
  pool_.await_ended();
  HONE_TRY(ensure_judge());
  HONE_ASSIGN(const std::string key, ensure_installed(job));
  const std::string owner = process_owner(job, options_, facts_);
  ProcessPool::Standby made;
  KeptProcess process = kept_.take(owner, fresh);
  const bool is_kept = process.process != nullptr;
  circumstances_.kept_process = is_kept;
  if (!is_kept) {
    HONE_ASSIGN(made, pool_.take(kind_of(job)));
    if (is_module(job.mode)) ++module_processes_;
    process.process = std::move(made.process);
    process.id = ++last_process_;
  }
  JudgeRequest request = request_of(job, options_, key);
  request.runner = process.id;
  request.kept = is_kept;
  // The process opens the device while the judge checks; the measurement waits until it has.
  if (job.counts && !has_all_memory_) {
    keep_player();
    pool_.make_player_ready(true);
  }
  running_.set(process.process.get());
  circumstances_.has_begun = true;
  work_.set_step("load");
  double shared_before_s = lock_.shared_seconds();
  const PassedProcess handed{*process.process, made.socket.get()};
  Result<JudgedReply> judged =
      judge_.judge(std::move(request), is_kept ? nullptr : &handed,
                   artifact_of(*job.built, job.mode), [&](JudgeStage stage) {
                     // The judge measures nothing while it checks.
                     if (stage == JudgeStage::kCheck) {
                       pool_.start_missing(false);
                       shared_before_s = lock_.shared_seconds();
                     }
                     work_.set_step(std::string(enum_name(stage)));
                     if (job.progress) job.progress(stage);
                   });
  running_.set(nullptr);
  circumstances_.shared_check = lock_.shared_seconds() - shared_before_s > kSharedCheckS;
  if (!judged) {
    {
      MutexLock lock(state_mutex_);
      pool_.end(std::move(process.process));
    }
    stop_judge();  // its state is unknown
    return judged.error().in("judge");
  }
  DeviceResult result{std::move(judged->judgement), std::nullopt};
  if (!is_of_submission(result.judgement)) {
    slots_.drop(key);
    kept_.forget_all();  // the judge may have lacked the memory that they hold
  }
  if (judged->kept) {
    ++process.uses;
    if (!fresh && !owner.empty()) {
      kept_.keep(owner, std::move(process));
      return result;
    }
    judge_.forget(process.id);
  }
  put_away(std::move(process), result);
  return result;
}

/// Ends the process.
void Device::put_away(KeptProcess process, DeviceResult& result) {
  const Judgement& judgement = result.judgement;
  // Rationale: this kill is hone's own, so the signal says nothing about how the process ended.
  const bool ended = has_ended(*process.process, judgement.ending == Ending::kDied ? kEndingMs : 0);
  process.process->kill();
  if (judgement.ending != Ending::kDone && ended && judgement.culprit == Culprit::kSubmission) {
    if (auto exit = process.process->wait(kExitSeconds); exit) result.exit = std::move(*exit);
  }
  pool_.end(std::move(process.process));
}

/// Rationale: this lane holds the device lock for timing. So a kernel that never ends delays other lanes, but does not
/// slow their checks or measurements.
Status Device::take_for_tool(const DeviceJob& job, const std::string& step, double seconds) {
  circumstances_ = {};
  work_.begin(job.task->id, job.waited);
  HONE_TRY(acquire(job));
  if (is_over(job)) return unavailable("cancelled");
  pool_.await_ended();
  HONE_TRY(wait_for_lanes([this] {
    pool_.wait_until_open();
    return lock_.lock_for_timing();
  }));
  if (is_over(job)) return unavailable("cancelled");
  work_.set_step(step);
  work_.allow(seconds);
  return {};
}

void Device::let_cancel(const DeviceJob& job, Process& process) {
  running_.set(&process);
  if (is_over(job)) process.kill();  // cancelled during its start
}

Result<SanitizerReply> Device::sanitize(const DeviceJob& job, const DeviceCalls& program) {
  HONE_TRY(take_for_tool(job, "run under the sanitizer", sanitizer_seconds(options_.sanitizer)));
  HONE_ASSIGN(Player player,
              start_player(launcher_, options_, spec_,
                           other_nodes_of(facts_).value_or(std::vector<std::string>{}), "sanitize",
                           options_.sanitizer.path));
  let_cancel(job, *player.process);
  auto reply = sanitize_on_device(player, options_, program, job.built->artifact);
  running_.set(nullptr);
  pool_.end(std::move(player.process));
  if (is_over(job)) return unavailable("cancelled");
  return reply;
}

Result<std::vector<LaunchCounters>> Device::count(const DeviceJob& job, const DeviceCalls& call,
                                                  double seconds) {
  CacheSweepCode sweep;
  HONE_ASSIGN(sweep.harness, built_harness(builds_, options_));
  if (const Value* cache = facts_.find("cache_bytes"); cache != nullptr && cache->is_int())
    sweep.cache_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(cache->as_int(), 0));
  HONE_TRY(take_for_tool(job, "read hardware counters", seconds));
  keep_player();
  const double ends_s = monotonic_s() + seconds;
  for (;;) {
    HONE_ASSIGN(Player player, pool_.take_player());
    const bool had_waited = player.is_ready;
    let_cancel(job, *player.process);
    auto counted = count_on_device(player, options_, call, sweep, job.built->artifact,
                                   std::max(ends_s - monotonic_s(), 0.0));
    running_.set(nullptr);
    const bool failed_by_itself = !counted && !player.has_begun;
    const bool over = is_over(job);
    if (!over) pool_.note_player(failed_by_itself ? Status(counted.error()) : Status());
    end_use(std::move(player));
    if (over) return unavailable("cancelled");
    // Rationale: the process can lose the device while it waits, which is no failure of the submission. So another one tries.
    if (!failed_by_itself || !had_waited || monotonic_s() >= ends_s) return counted;
    pool_.await_ended();
  }
}

/// Ends a process that reads counters. Without Defence::kOwnPlayer, keeps it for the next profile instead, unless it failed.
void Device::end_use(Player player) {
  if (options_.measure.defences.holds(Defence::kOwnPlayer) || !player.has_begun) {
    pool_.end(std::move(player.process));
  } else {
    pool_.return_player(std::move(player));
  }
}

void Device::keep_player() {
  if (options_.counters_ahead == CountersAhead::kOnce || !pool_.can_count() ||
      std::exchange(keeps_player_, true))
    return;
  shared_.memory.keep_player();
  if (shared_.memory.is_budgeted())
    shared_.ledger.set_bytes(shared_.memory.device().shared_bytes());
}

Result<Value> Device::admit(const std::shared_ptr<const Task>& task, std::uint64_t seed) {
  work_.begin(task->id);
  HONE_ASSIGN(const MemoryPlace place, shared_.memory.place(*task));
  DeviceJob job;
  job.task = task;
  job.mode = mode_of(*task, options_);
  HONE_TRY(claim_memory(job, place == MemoryPlace::kExclusive));
  HONE_TRY(take_lock(true));
  if (place == MemoryPlace::kExclusive) take_all_memory();
  work_.allow(hold_seconds(options_));
  HONE_TRY(ensure_judge());
  HONE_ASSIGN(const std::string key, ensure_installed(job));
  work_.set_step("admit");
  const auto admitted = judge_.admit({installed_key(key, TrustedRole::kReference),
                                      without_sources(*task), static_cast<std::int64_t>(seed)});
  if (!admitted) stop_judge();  // its state is unknown
  slots_.drop_all();
  rest();  // other lanes judge the task's golden submissions next
  if (!admitted) return admitted.error();
  if (const auto* report = std::get_if<Value>(&*admitted)) return *report;
  return internal_error("admission of " + task->id + ": " + std::get<Judgement>(*admitted).message);
}

std::string Device::problem() const {
  MutexLock lock(problem_mutex_);
  return problem_;
}

void Device::close() {
  closed_ = true;
  judge_.close();  // it may be starting, or hang
  cancel();
}

void Device::cancel() {
  running_.kill();
  shared_.ledger.wake();
}

Status Device::ensure_judge() {
  if (judge_.has_ended()) {
    log_warning("evaluate", lock_.lane() + ": its judge has ended; starting another");
    stop_judge();
    pool_.await_ended();
  }
  if (judge_.is_started()) return {};
  auto facts = start_judge(judge_, launcher_, builds_, options_, spec_);
  {
    MutexLock lock(problem_mutex_);
    problem_ = facts || closed_ ? "" : facts.error().message;
  }
  HONE_ASSIGN(facts_, std::move(facts));
  if (auto others = other_nodes_of(facts_)) pool_.see_only_own(std::move(*others));
  const Value* memory = facts_.find("memory_bytes");
  if (options_.device_code && memory != nullptr && memory->is_int() && memory->as_int() > 0) {
    shared_.memory.set_bytes(static_cast<std::uint64_t>(memory->as_int()));
    shared_.ledger.set_bytes(shared_.memory.device().shared_bytes());
  }
  return {};
}

/// Rationale: a judge measures the device when it starts, so no other lane may use it then.
Status Device::start_judge_exclusively() {
  HONE_TRY(take_lock(true));
  work_.allow(hold_seconds(options_));
  return ensure_judge();
}

void Device::stop_judge() {
  MutexLock lock(state_mutex_);  // a lane that failed to get the lock does not have it
  // The judge ends first: that thaws the processes that it has frozen, so that the launcher can end them.
  judge_.stop();
  slots_.clear();
  pool_.end(kept_.release());
  pool_.end_player();  // the device may be lost
}

Result<SlotRequest> Device::slot_of(const DeviceJob& job) const {
  SlotRequest request;
  request.task = job.task;
  request.key = slot_key(*job.task, job.mode);
  request.mode = job.mode;
  request.codes = job.trusted;
  HONE_ASSIGN(request.need, shared_.memory.need(*job.task));
  request.device = shared_.memory.device();
  request.drops_others = has_all_memory_ || drops_others_;
  request.may_inherit = !drops_others_;
  return request;
}

/// Returns the task's key. Rationale: a mistake in the task does not affect the judge, which holds other
/// tasks. A judge that did not answer, or failed otherwise, is restarted.
Result<std::string> Device::ensure_installed(const DeviceJob& job) {
  const auto install = [&]() -> Result<std::string> {
    if (job.task->backends.count(options_.backend) == 0)
      return invalid_argument("task " + job.task->id + " has no sources for backend " +
                              options_.backend);
    HONE_ASSIGN(const SlotRequest request, slot_of(job));
    const std::string inherited = slots_.make_room(request);
    pool_.await_ended();
    shared_.ledger.settle(lane_, reserved_bytes_);
    HONE_TRY(slots_.install(request, inherited));
    return request.key;
  };
  Result<std::string> key = install();
  if (key) return key;
  const bool of_task =
      key.error().code == Code::kFailedPrecondition || key.error().code == Code::kInvalidArgument;
  if (judge_.awaits_reply() || !of_task) stop_judge();
  return key;
}

}  // namespace hone
