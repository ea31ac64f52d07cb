// The evaluator: a fair queue, builder threads before it reaches a device, and a thread per device.
//
// Theory of operation. A submission waits in `waiting_` (fair among clients and episodes). A
// builder thread takes it, builds it (or finds it in the cache) and, if it built, puts it into
// `built_`, which is short: builders stop while devices are behind. A device thread takes it from
// there and judges it; a device that checks several modules at a time has one for each of its lanes.
// Every job ends in finish(), once, whoever gets there first: its thread, a cancellation, or its
// deadline, which the clock thread watches.
#include "evaluate/evaluator.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/crypto.hpp"
#include "base/log.hpp"
#include "base/mutex.hpp"
#include "evaluate/counters.hpp"
#include "evaluate/device.hpp"
#include "evaluate/device_uses.hpp"
#include "evaluate/fair_queue.hpp"
#include "evaluate/job.hpp"
#include "evaluate/judging.hpp"
#include "evaluate/make_evaluator.hpp"
#include "evaluate/sources.hpp"
#include "evaluate/task_homes.hpp"
#include "evaluate/tools.hpp"
#include "evaluate/verdicts.hpp"

namespace hone {
namespace {

// Submissions built ahead for each device and lane. With 4, a lane seldom found one whose task it has ready (record 41).
constexpr std::size_t kBuiltAhead = 16;
constexpr double kStuckFactor = 4;  // attempts of one job, each with a wait for all other lanes

BuildFinding build_finding_of(const Result<std::shared_ptr<const Built>>& built) {
  BuildFinding finding;
  finding.has_answer = built.ok();
  finding.is_hopeless = !built && built.error().code == Code::kFailedPrecondition;
  finding.is_doubtful = built && (*built)->doubtful;
  finding.is_starved = built && !(*built)->ok && (*built)->starved;
  return finding;
}

/// Builds as often as decide_build() says.
Result<std::shared_ptr<const Built>> build_as_often_as_needed(const BuildRequest& request,
                                                              BuildPool& pool) {
  bool known_is_built = false;
  for (int builds = 1;; ++builds) {
    auto built = pool.build(request);
    switch (decide_build(builds, known_is_built, build_finding_of(built))) {
      case BuildNext::kAccept:
        return built;
      case BuildNext::kFault:
        if (!built) return built.error();
        return unavailable(
            "the compiler got too little processor time or memory; reduce the load of the "
            "machine or raise evaluate.build_seconds");
      case BuildNext::kBuildAgain:
        break;
      case BuildNext::kBuildKnown:
        log_warning("evaluate", "a build failed twice without a message about its source");
        if (auto known = pool.self_test(); !known) return known.error();
        known_is_built = true;
        break;
    }
  }
}

/// Why the task's baseline has no plan; empty: it has one. Keeps the baseline in `codes`.
std::string why_baseline_is_not_recorded(const Task& task, const EvaluatorOptions& options,
                                         BuildPool& builds, TrustedCodes& codes) {
  auto source = planned_baseline(task, options);
  if (!source) return source.error().message;
  if (!source->build.record)
    return "with baseline: compile, eager mode and torch.compile are timed to choose it";
  const auto baseline = build_planned(std::move(*source), builds);
  if (!baseline) return baseline.error().message;
  codes.baseline = usable(baseline);
  return baseline->built->ok ? baseline->built->not_recorded : "it does not build";
}

/// Adds to a verdict what only the host knows.
void complete(const std::string& fingerprint, const Job& job, Verdict& verdict) {
  const std::string& precision = job.submission.task->precision;
  verdict.fingerprint = fingerprint + (precision.empty() ? "" : "; " + precision);
  verdict.source_hash = sha256_hex(job.submission.source);
  if (has_module_reference(job.mode) && uses_device(job.mode))
    verdict.timing = job.mode == Mode::kRecordedModule ? "device" : "call";
  verdict.not_recorded = job.not_recorded;
  job.times.fill(verdict);
}

DeviceJob tool_job(const Job& job) {
  DeviceJob made;
  made.task = job.submission.task;
  made.built = job.built;
  made.mode = job.mode;
  made.client = job.submission.client;
  made.over = &job.over;
  return made;
}

/// The hardware counters for a profile of native device code with this verdict, or why there are none. `facts`: of the
/// device. Rationale: counting must not cost a verdict that exists, so it needs enough time.
ProfileCounters counted(Device& device, const Job& job, const Verdict& verdict, const Value& facts,
                        const EvaluatorOptions& options, IsolationLevel isolation) {
  constexpr double kWaitForDevice = 3;
  const double seconds = counting_seconds(verdict);
  if (isolation < IsolationLevel::kPrivate)
    return {{}, "hardware counters need isolation 'private'; hone doctor says what is missing"};
  if (job.deadline_s - monotonic_s() < seconds + kWaitForDevice)
    return {{}, "too little time was left before the call's deadline to read hardware counters"};
  const double begun_s = monotonic_s();
  const auto call = counting_call(*job.submission.task, job.plan, facts, options);
  if (!call) return {{}, call.error().message};
  const double made_s = monotonic_s();
  auto found = device.count(tool_job(job), *call, seconds);
  const auto ms = [](double from_s, double to_s) {
    return std::to_string(std::lround((to_s - from_s) * 1e3)) + " ms";
  };
  log_debug("evaluate", "counters: made the inputs in " + ms(begun_s, made_s) +
                            ", waited for the device and counted in " + ms(made_s, monotonic_s()));
  if (!found) return {{}, found.error().message};
  return {std::move(*found), ""};
}

/// The answer of `sanitize` on a device. `facts`: of the device.
Result<Examination> sanitized(Device& device, Job& job, const Value& facts,
                              const EvaluatorOptions& options) {
  const Submission& s = job.submission;
  const auto program = sanitizing_calls(*s.task, job.plan, facts);
  if (!program)
    return Examination{std::nullopt, Value::map({{"unavailable", program.error().message}})};
  job.progress(Stage::kChecking);
  HONE_ASSIGN(const SanitizerReply reply, device.sanitize(tool_job(job), *program));
  return Examination{std::nullopt,
                     facts_of_sanitizing(*program, reply, submission_name(s.language, options))};
}

/// Whether the judge of another device has started. `device_of`: the device of each lane; the lane with the number of a device is
/// that device's first one.
bool others_work(const std::vector<std::unique_ptr<Device>>& lanes,
                 const std::vector<std::size_t>& device_of, std::size_t device) {
  return std::any_of(device_of.begin(), device_of.end(), [&](std::size_t other) {
    return other != device && lanes[other]->problem().empty();
  });
}

/// Whether a lane leaves all jobs to other devices, because its device's judge does not start and another device's does.
/// Rationale: each job would be a fault here, and a lane that fails at once would take more jobs than one that works.
bool gives_way(const std::vector<std::unique_ptr<Device>>& lanes,
               const std::vector<std::size_t>& device_of, std::size_t lane) {
  return !lanes[lane]->problem().empty() && !lanes[device_of[lane]]->problem().empty() &&
         others_work(lanes, device_of, device_of[lane]);
}

/// Whether an idle lane should start its judge again: it gives way, or it is its device's first lane and has no judge.
/// Rationale: a server without any device is not ready, so no job comes that would start one.
bool is_to_start_again(const std::vector<std::unique_ptr<Device>>& lanes,
                       const std::vector<std::size_t>& device_of, std::size_t lane) {
  return gives_way(lanes, device_of, lane) ||
         (device_of[lane] == lane && !lanes[lane]->problem().empty());
}

/// Whether a job that failed on this lane moves to another device, because this device's judge does not start. A job moves once.
/// Rationale: nothing of the submission was loaded here, so it cannot have caused the failure.
bool moves(const std::vector<std::unique_ptr<Device>>& lanes,
           const std::vector<std::size_t>& device_of, std::size_t lane, const Job& job) {
  return !job.has_begun && !job.moved_from && !job.over && !lanes[lane]->problem().empty() &&
         others_work(lanes, device_of, device_of[lane]);
}

class LocalEvaluator : public Evaluator {
 public:
  LocalEvaluator(Launcher& launcher, EvaluatorOptions options, Zygotes* zygotes)
      : options_(shared_by_lanes(std::move(options))),
        own_zygotes_(zygotes == nullptr ? std::make_unique<Zygotes>(launcher, options_) : nullptr),
        zygotes_(zygotes == nullptr ? *own_zygotes_ : *zygotes),
        builds_(launcher, options_, &zygotes_),
        judging_(options_, builds_),
        uses_(options_.devices),
        isolation_(launcher.level()),
        hold_s_(hold_seconds(options_)) {
    const auto add = [&](const DeviceSpec& spec, std::size_t device) {
      devices_.push_back(
          std::make_unique<Device>(launcher, zygotes_, builds_, options_, spec, shared_[device]));
      uses_.add_lane(device);
      device_of_.push_back(device);
    };
    for (std::size_t i = 0; i < options_.devices.size(); ++i) {
      shared_.emplace_back(options_, 1 + options_.devices[i].lanes.size());
      add(options_.devices[i], i);
    }
    for (std::size_t i = 0; i < options_.devices.size(); ++i) {
      for (const DeviceSpec& lane : options_.devices[i].lanes) add(lane, i);
    }
    MutexLock lock(mutex_);
    for (std::size_t i = 0; i < devices_.size(); ++i) homes_.add_lane();
    idle_since_s_.resize(devices_.size(), 0);
  }

  ~LocalEvaluator() override {
    {
      MutexLock lock(mutex_);
      stopping_ = true;
      changed_.notify_all();
    }
    for (auto& device : devices_) device->close();
    for (std::thread& thread : threads_) thread.join();
    std::vector<JobPtr> left;
    {
      MutexLock lock(mutex_);
      for (auto& [id, job] : jobs_) left.push_back(job);
    }
    for (const JobPtr& job : left)
      finish(job, Error{Code::kUnavailable, "the server is shutting down"});
  }

  Status start(std::string hardware) {
    // A device's code is built for the facts that the device reports. On the processor, a missing compiler is
    // reported first.
    if (options_.device_code) HONE_TRY(start_devices());
    HONE_ASSIGN(const std::string toolchain, builds_.self_test());
    if (!options_.device_code) HONE_TRY(start_devices());
    if (options_.toolchains.count("python") != 0) zygotes_.begin();
    facts_ = devices_.front()->facts();
    fingerprint_ = (options_.device_code ? device_name(devices_.front()->facts()) : hardware) +
                   "; " + toolchain;
    for (int i = 0; i < options_.builders; ++i) threads_.emplace_back([this] { build_loop(); });
    for (std::size_t i = 0; i < devices_.size(); ++i)
      threads_.emplace_back([this, i] { device_loop(i); });
    threads_.emplace_back([this] { clock_loop(); });
    return {};
  }

  Result<std::uint64_t> submit(Submission submission, Progress progress, Done done) override {
    return add_job(std::move(submission), std::nullopt, std::move(progress),
                   [done = std::move(done)](Result<Examination> found) {
                     if (!found) return done(found.error());
                     done(std::move(*found->verdict));
                   });
  }

  Result<std::uint64_t> examine(Submission submission, Tool tool, Progress progress,
                                Examined done) override {
    return add_job(std::move(submission), tool, std::move(progress), std::move(done));
  }

  void cancel(std::uint64_t id) override {
    JobPtr job;
    {
      MutexLock lock(mutex_);
      const auto found = jobs_.find(id);
      if (found == jobs_.end()) return;
      job = found->second;
    }
    end_early(job, Error{Code::kCancelled, "cancelled"});
  }

  void drop_queued() override {
    std::vector<JobPtr> queued;
    {
      MutexLock lock(mutex_);
      while (auto job = waiting_.pop()) queued.push_back(std::move(*job));
      while (auto job = built_.pop()) {
        homes_.remove_waiting((*job)->task_key);
        queued.push_back(std::move(*job));
      }
    }
    for (const JobPtr& job : queued) finish(job, Error{Code::kCancelled, "dropped from the queue"});
  }

  std::string waits_for() const override { return zygotes_.importing() ? "PyTorch's import" : ""; }
  std::size_t pending() const override {
    MutexLock lock(mutex_);
    return jobs_.size();
  }

  std::vector<std::string> problems() const override {
    std::vector<std::string> found;
    // Other lanes of a device may lack memory while the first one works.
    for (std::size_t i = 0; i < options_.devices.size(); ++i) {
      if (std::string problem = devices_[i]->problem(); !problem.empty())
        found.push_back(std::move(problem));
    }
    return found;
  }

  Value stats() const override {
    Value stats = counters_.value();
    stats.set("devices_failing", problems().size());
    std::size_t module_processes = 0;
    for (const auto& device : devices_) module_processes += device->module_processes();
    stats.set("module_processes", module_processes);
    PlayerCounts players;
    for (const auto& device : devices_) {
      const PlayerCounts of_device = device->player_counts();
      players.started += of_device.started;
      players.used += of_device.used;
      players.waiting += of_device.waiting;
    }
    stats.set("counter_processes", Value::map({{"started", players.started},
                                               {"used", players.used},
                                               {"waiting", players.waiting}}));
    stats.set("build_cache", builds_.cache_stats());
    MutexLock lock(mutex_);
    stats.set("queue", waiting_.size())
        .set("pending", jobs_.size())
        .set("devices", options_.devices.size())
        .set("by_device", uses_.value());
    return stats;
  }

  std::string fingerprint() const override { return fingerprint_; }

 private:
  Result<std::uint64_t> add_job(Submission submission, std::optional<Tool> tool, Progress progress,
                                Examined done) {
    const auto sources = submission.task->backends.find(submission.backend);
    if (submission.backend != options_.backend || sources == submission.task->backends.end()) {
      return invalid_argument("task " + submission.task->id + " cannot be run on backend '" +
                              submission.backend + "'");
    }
    const auto& languages = sources->second.languages;
    if (std::find(languages.begin(), languages.end(), submission.language) == languages.end()) {
      return invalid_argument("language '" + submission.language +
                              "' is not a language of the task");
    }
    if (!options_.device_code && static_cast<std::size_t>(submission.task->threads) >
                                     options_.devices.front().cores.size()) {
      return failed_precondition(
          "task " + submission.task->id + " grants " + std::to_string(submission.task->threads) +
          " cores, this device has " + std::to_string(options_.devices.front().cores.size()));
    }
    auto job = std::make_shared<Job>();
    job->times.submitted_s = monotonic_s();
    job->limit_s = submission.deadline_s > 0 ? submission.deadline_s : 1e9;
    job->deadline_s = job->times.submitted_s + job->limit_s;
    job->submission = std::move(submission);
    job->progress = std::move(progress);
    job->done = std::move(done);
    job->tool = tool;
    MutexLock lock(mutex_);
    if (stopping_) return unavailable("the server is shutting down");
    if (jobs_.size() >= options_.queue_max)
      return resource_exhausted("the evaluation queue is full");
    std::size_t& mine = by_client_[job->submission.client];
    if (mine >= options_.client_max) {
      return resource_exhausted("client '" + job->submission.client + "' has " +
                                std::to_string(mine) + " evaluations under way, at most " +
                                std::to_string(options_.client_max) + " allowed");
    }
    ++mine;
    job->id = ++last_id_;
    jobs_[job->id] = job;
    waiting_.push(job->submission.client, job->submission.episode, job);
    counters_.expect(job->submission.client);
    changed_.notify_all();
    return job->id;
  }

  Status start_devices() {
    // Other lanes start when they get their first job.
    for (std::size_t i = 0; i < options_.devices.size(); ++i) HONE_TRY(devices_[i]->start());
    std::vector<Value> facts;
    for (std::size_t i = 0; i < options_.devices.size(); ++i) facts.push_back(devices_[i]->facts());
    return expect_like_devices(facts, options_);
  }

  /// Ends a job, once; later calls are ignored.
  void finish(const JobPtr& job, Result<Verdict> result) {
    if (!result) return end(job, result.error());
    end(job, Examination{std::move(*result), Value::map()});
  }
  void end(const JobPtr& job, Result<Examination> found) {
    if (job->over.exchange(true)) return;
    {
      MutexLock lock(mutex_);
      jobs_.erase(job->id);
      const auto mine = by_client_.find(job->submission.client);
      if (mine != by_client_.end() && --mine->second == 0) by_client_.erase(mine);
      changed_.notify_all();
    }
    if (found && found->verdict) complete(fingerprint_, *job, *found->verdict);
    if (job->tool) {
      counters_.count(*job->tool, found, job->submission.client);
    } else {
      counters_.count(found ? Result<Verdict>(*found->verdict) : Result<Verdict>(found.error()),
                      job->submission.client);
    }
    job->done(std::move(found));
  }

  void end_early(const JobPtr& job, Error why) {
    finish(job, std::move(why));
    MutexLock lock(mutex_);
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      if (i < judged_.size() && judged_[i] == job) devices_[i]->cancel();
    }
  }

  JobPtr next_to_build() {
    MutexLock lock(mutex_);
    const std::size_t ahead = kBuiltAhead * devices_.size();
    while (!stopping_ && (waiting_.size() == 0 || built_.size() >= ahead)) changed_.wait(mutex_);
    return stopping_ ? nullptr : *waiting_.pop();
  }

  void build_loop() {
    while (JobPtr job = next_to_build()) {
      if (job->over) continue;
      job->times.building_s = monotonic_s();
      job->progress(Stage::kBuilding);
      if (job->tool == Tool::kHardware) {
        // A device's thread answers it, because it may measure that device's core.
        push_built(job);
      } else if (auto source = source_of(job)) {
        build_job(job, *source);
      }
    }
  }

  void push_built(const JobPtr& job) {
    if (job->built != nullptr) {
      const Task& task = *job->submission.task;
      job->task_key = slot_key(task, job->mode);
      const auto need = devices_.front()->memory().need(task);
      job->memory_bytes = need ? need->expected() : 0;
    }
    MutexLock lock(mutex_);
    built_.push(job->submission.client, job->submission.episode, job);
    homes_.add_waiting(job->task_key);
    changed_.notify_all();
  }

  /// What to build; nullopt: the job has ended.
  std::optional<PlannedSource> source_of(const JobPtr& job) {
    const Submission& s = job->submission;
    auto source = planned_submission(*s.task, s.language, s.source, options_);
    if (!source) {
      finish(job, verdict_of_plan(source.error(), submission_name(s.language, options_)));
      return std::nullopt;
    }
    if (job->tool) {
      if (Status can =
              prepare_build(*job->tool, *s.task, options_, isolation_, s.language, *source);
          !can) {
        end(job, Examination{std::nullopt, Value::map({{"unavailable", can.error().message}})});
        return std::nullopt;
      }
    }
    if (s.profile && !job->tool) add_code_report(options_, s.language, source->build);
    job->plan = std::move(source->plans[Form::kEntry]);
    if (!source->build.record) return std::move(*source);
    // Both sides are timed the same way, so a submission is recorded only if its baseline is.
    if (job->not_recorded.empty()) {
      const std::string why =
          why_baseline_is_not_recorded(*s.task, options_, builds_, job->trusted);
      if (!why.empty()) job->not_recorded = "the baseline: " + why;
    }
    source->build.record = job->not_recorded.empty();
    if (source->build.record || options_.modules != "plan") return std::move(*source);
    finish(job,
           failed_precondition("task " + s.task->id +
                               ": modules: plan needs a recorded baseline, and there is none (" +
                               job->not_recorded + "); set modules: auto"));
    return std::nullopt;
  }

  void build_job(const JobPtr& job, const PlannedSource& source) {
    const Submission& s = job->submission;
    const Result<std::shared_ptr<const Built>> built =
        build_as_often_as_needed(source.build, builds_);
    job->times.built_s = monotonic_s();
    if (!built) return finish(job, built.error().in("build"));
    if (auto failed = verdict_of_build(**built, submission_name(s.language, options_), options_))
      return finish(job, std::move(*failed));
    if (auto failed = verdict_of_dry_run(**built)) return finish(job, std::move(*failed));
    job->built = *built;
    if (job->tool && sanitizes_on_device(*job->tool, options_)) {
      job->mode = source.mode;
      return push_built(job);
    }
    if (job->tool && !is_judged(*job->tool)) {
      return end(job, Examination{std::nullopt, facts_of_build(*job->tool, source.build, **built)});
    }
    if (source.build.record) job->not_recorded = (*built)->not_recorded;
    job->mode =
        source.build.record && job->not_recorded.empty() ? Mode::kRecordedModule : source.mode;
    if (auto refused = verdict_of_recording(job->not_recorded, options_))
      return finish(job, std::move(*refused));
    build_trusted(*s.task, options_, builds_, job->trusted);
    push_built(job);
  }

  /// Puts a job back into the queue. It is built again, now without a plan.
  void queue_without_plan(const JobPtr& job) {
    MutexLock lock(mutex_);
    waiting_.push(job->submission.client, job->submission.episode, job);
    changed_.notify_all();
  }

  /// The next job for this device or lane; nullopt: none, or all are left to other lanes. Further lanes
  /// of a device judge only recorded plans. Rationale: preparing a task may take longer than judging a
  /// submission, so TaskHomes decides which lane prepares it. Jobs whose memory is not free now come last.
  std::optional<JobPtr> take_built(std::size_t device) HONE_REQUIRES(mutex_) {
    constexpr int kMustWait = 3;
    const bool lane = device >= options_.devices.size();
    const double idle_s = monotonic_s() - idle_since_s_[device];
    const bool gives_way_now = gives_way(devices_, device_of_, device);
    homes_.set_ready(device,
                     gives_way_now ? std::set<std::string>() : devices_[device]->ready_tasks());
    if (gives_way_now) return std::nullopt;
    const auto homes = std::cref(homes_);  // pop_by() uses it only during this call
    const bool others = others_work(devices_, device_of_, device_of_[device]);
    std::optional<JobPtr> job = built_.pop_by([&](const JobPtr& one) {
      if (lane && !uses_lanes(one->mode)) return -1;
      if (others && one->moved_from == device_of_[device]) return -1;
      const int rank = homes.get().rank(device, one->task_key, idle_s);
      return rank < 0 || devices_[device]->could_claim(one->memory_bytes) ? rank : rank + kMustWait;
    });
    if (job) homes_.begin(device, (*job)->task_key);
    return job;
  }

  /// Null: shutdown. `wait`: wait for a job; nullopt then: it is time to start the judge of a lane that gives way.
  std::optional<JobPtr> next_to_judge(std::size_t device, bool wait) {
    constexpr auto kLookAgain = std::chrono::milliseconds(
        250);  // time after which an idle lane considers again the jobs that it left to other lanes
    constexpr double kStartAgainS = 5;
    const double from_s = monotonic_s();
    MutexLock lock(mutex_);
    judged_.resize(devices_.size());
    judged_[device] = nullptr;
    uses_.end(device);
    homes_.end(device);
    if (!wait) idle_since_s_[device] = monotonic_s();
    std::optional<JobPtr> job = take_built(device);
    while (wait && !job && !stopping_) {
      if (monotonic_s() - from_s > kStartAgainS && is_to_start_again(devices_, device_of_, device))
        return std::nullopt;
      changed_.wait_for(mutex_, kLookAgain);
      job = take_built(device);
    }
    if (stopping_) return nullptr;
    if (job) {
      judged_[device] = *job;
      uses_.begin(device);
    }
    changed_.notify_all();
    return job;
  }

  /// Ends a job that was judged. A profile gets facts; the verdict of a step with `profile` set gets findings.
  void finish_judged(const JobPtr& job, Result<Verdict> verdict, std::size_t index) {
    const Submission& s = job->submission;
    if (!verdict || (job->tool ? job->tool != Tool::kProfile : !s.profile))
      return finish(job, std::move(verdict));
    ProfileCounters counters;
    if (job->tool && counts_launches(options_, job->mode, *verdict))
      counters = counted(*devices_[index], *job, *verdict, facts_, options_, isolation_);
    Value facts = facts_of_profile(*s.task, options_, s.language, *job->built, job->plan, *verdict,
                                   facts_with_speed(facts_, options_, index), counters);
    if (job->tool) return end(job, Examination{std::move(*verdict), std::move(facts)});
    verdict->findings = findings_in(facts);
    finish(job, std::move(verdict));
  }

  void device_loop(std::size_t index) {
    Device& device = *devices_[index];
    // Measures the processor's speed now, so that the first profiled step does not have to.
    if (index == 0) static_cast<void>(facts_with_speed(facts_, options_, index));
    for (;;) {
      std::optional<JobPtr> job = next_to_judge(index, false);
      if (!job) {
        device.use_idle_time();
        device.rest();
        job = next_to_judge(index, true);
      }
      if (!job) {
        device.start_again();
        continue;
      }
      if (*job == nullptr) return device.rest();  // release the device for other lanes
      if ((*job)->over) continue;
      if ((*job)->tool == Tool::kHardware) {
        end(*job, Examination{std::nullopt,
                              facts_of_hardware(options_, facts_with_speed(facts_, options_, index),
                                                fingerprint_)});
        continue;
      }
      if ((*job)->tool && sanitizes_on_device(*(*job)->tool, options_)) {
        end(*job, sanitized(device, **job, facts_, options_));
        device.make_ready();
        continue;
      }
      const bool was_ready = device.has_ready((*job)->task_key);
      std::optional<Result<Verdict>> verdict = judging_.judge(device, **job);
      const bool moves_on = verdict && !*verdict && moves(devices_, device_of_, index, **job);
      if (!moves_on) {
        MutexLock lock(mutex_);
        const double prepare_s = (*job)->times.prepare_s();
        if (was_ready) homes_.add_evaluation((*job)->task_key, uses_.busy_s(index));
        if (!was_ready && prepare_s > 0) homes_.add_preparation((*job)->task_key, prepare_s);
      }
      if (!verdict) {
        queue_without_plan(*job);
      } else if (moves_on) {
        log_warning("evaluate", device.problem() + "; another device judges the submission");
        (*job)->moved_from = device_of_[index];
        push_built(*job);
      } else {
        finish_judged(*job, *std::move(verdict), index);
      }
      device.make_ready();
    }
  }

  /// Ends jobs that a device or lane has had for longer than all their attempts may take. Rationale: each
  /// wait has its own limit, but a thread could hang in another way, and its submission must still be
  /// answered.
  void add_stuck(std::vector<std::pair<JobPtr, Error>>& late) HONE_REQUIRES(mutex_) {
    const double limit_s = kStuckFactor * static_cast<double>(1 + devices_.size()) * hold_s_;
    for (std::size_t i = 0; i < judged_.size(); ++i) {
      const JobPtr& job = judged_[i];
      if (job == nullptr || job->over || uses_.busy_s(i) < limit_s) continue;
      late.emplace_back(job,
                        unavailable("no answer after " + std::to_string(static_cast<int>(limit_s)) +
                                    " s, in \"" + devices_[i]->work() + "\""));
    }
  }

  /// Ends jobs whose deadline has passed.
  void clock_loop() {
    for (;;) {
      std::vector<std::pair<JobPtr, Error>> late;
      {
        MutexLock lock(mutex_);
        if (stopping_) return;
        changed_.wait_for(mutex_, std::chrono::milliseconds(100));
        const double now = monotonic_s();
        for (auto& [id, job] : jobs_) {
          if (now > job->deadline_s)
            late.emplace_back(job, Error{Code::kDeadlineExceeded, "the deadline has passed"});
        }
        add_stuck(late);
      }
      for (auto& [job, why] : late) end_early(job, std::move(why));
    }
  }

  const EvaluatorOptions options_;
  const std::unique_ptr<Zygotes> own_zygotes_;  ///< null if the caller owns them
  Zygotes& zygotes_;
  BuildPool builds_;
  Judging judging_;
  DeviceUses uses_;  ///< a lane for each entry of devices_
  const IsolationLevel isolation_;
  const double hold_s_;               ///< longest time that a lane works on one attempt
  std::deque<SharedByLanes> shared_;  ///< for each device
  std::vector<std::unique_ptr<Device>>
      devices_;  ///< the first lane of each device, then the other lanes
  std::vector<std::size_t>
      device_of_;  ///< of each entry of devices_, as a place in options_.devices
  std::vector<std::thread> threads_;
  std::string fingerprint_;
  Value facts_;  ///< of the first device, when it started
  Counters counters_;
  mutable Mutex mutex_;
  Condition changed_;
  bool stopping_ HONE_GUARDED_BY(mutex_) = false;
  std::uint64_t last_id_ HONE_GUARDED_BY(mutex_) = 0;
  std::map<std::uint64_t, JobPtr> jobs_ HONE_GUARDED_BY(mutex_);
  std::map<std::string, std::size_t> by_client_ HONE_GUARDED_BY(mutex_);
  FairQueue<JobPtr> waiting_ HONE_GUARDED_BY(mutex_), built_ HONE_GUARDED_BY(mutex_);
  std::vector<JobPtr> judged_ HONE_GUARDED_BY(mutex_);  ///< current job of each entry of devices_
  std::vector<double> idle_since_s_
      HONE_GUARDED_BY(mutex_);  ///< when each entry of devices_ ended its last job; 0: it had none
  TaskHomes homes_ HONE_GUARDED_BY(
      mutex_);  ///< of the jobs in built_ and judged_; its lanes are the entries of devices_
};

}  // namespace

Result<std::unique_ptr<Evaluator>> make_evaluator(Launcher& launcher, EvaluatorOptions options,
                                                  std::string hardware, Zygotes* zygotes) {
  if (options.devices.empty()) return invalid_argument("no device is configured");
  auto evaluator = std::make_unique<LocalEvaluator>(launcher, std::move(options), zygotes);
  HONE_TRY(evaluator->start(std::move(hardware)));
  return std::unique_ptr<Evaluator>(std::move(evaluator));
}

}  // namespace hone
