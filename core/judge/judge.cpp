// The judge's loop.
#include "judge/judge.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "channel/stream.hpp"
#include "judge/admit.hpp"
#include "judge/fill.hpp"
#include "judge/timing/processes/kept_rounds.hpp"
#include "judge/timing/round_size.hpp"

namespace hone {
namespace {

constexpr double kForever = 1e9;
constexpr double kLoadSeconds =
    60;  // limit of loading a task's own code, which may have to be compiled

std::uint64_t seed_of(std::int64_t seed) { return static_cast<std::uint64_t>(seed); }

JudgedReply fault_reply(const Error& error) {
  JudgedReply reply;
  reply.judgement = fault(error);
  return reply;
}

Task judged_task(Task task, const Workbench& workbench) {
  task.narrow_answers = answers_are_narrow(task, workbench.memory_bytes());
  return task;
}

}  // namespace

Judge::Judge(int socket, const Backend& backend, hone_device* device, int cpu,
             std::vector<int> cores)
    : socket_(socket),
      host_(socket),
      backend_(backend),
      device_(device),
      cpu_(cpu),
      cores_(std::move(cores)) {}

void Judge::serve() {
  for (;;) {
    auto message = receive_message(socket_, kRequestBytesMax, kForever);
    if (!message) return;
    auto request = read_request(message->bytes);
    if (!request) {
      host_.reply(fault_reply(request.error()));
      continue;
    }
    std::visit([&](auto& each) { serve(std::move(each), std::move(message->fds)); }, *request);
  }
}

void Judge::serve(OpenRequest, std::vector<UniqueFd>) {
  auto facts = backend_.facts(device_);
  if (!facts) return host_.reply(fault_reply(facts.error()));
  limits_ = limits_of(*facts);
  host_.reply(FactsReply{std::move(facts).value()});
}

void Judge::serve(EquipRequest, std::vector<UniqueFd> fds) {
  auto facts = equip(std::move(fds));
  if (!facts) return host_.reply(fault_reply(facts.error()));
  host_.reply(FactsReply{std::move(facts).value()});
}

void Judge::serve(InstallRequest request, std::vector<UniqueFd> fds) {
  const std::string key = request.key;
  const Judgement done = install(std::move(request), std::move(fds));
  if (!passed(done)) return host_.reply(JudgedReply{done});
  const Installed& made = installed_.at(key);
  InstalledReply answer{done.message, note_warns_, std::nullopt, made.trusted.error};
  if (made.role == TrustedRole::kBaseline) answer.times = made.trusted;
  host_.reply(answer);
}

void Judge::serve(JudgeRequest request, std::vector<UniqueFd> fds) {
  const std::int64_t runner = request.runner;
  JudgedReply answer{judge(std::move(request), std::move(fds))};
  answer.kept = kept_.count(runner) != 0;
  host_.reply(answer);
  if (spare_bytes_ == 0 || device_code_) return;
  if (auto spare = Arena::create(backend_, device_, spare_bytes_, true))
    spare_ = std::move(spare).value();
}

void Judge::serve(AdmitRequest request, std::vector<UniqueFd>) {
  const auto reference = installed(TrustedRole::kReference, request.reference);
  if (!reference) return host_.reply(fault_reply(reference.error()));
  auto report = admit_task(judged_task(std::move(request.task), *workbench_), seed_of(request.seed),
                           *reference, *workbench_);
  if (!report) return host_.reply(fault_reply(report.error()));
  host_.reply(AdmittedReply{std::move(report).value()});
}

void Judge::serve(DropRequest request, std::vector<UniqueFd>) { installed_.erase(request.key); }

void Judge::serve(ForgetRequest request, std::vector<UniqueFd>) { kept_.erase(request.runner); }

void Judge::serve(TrimRequest, std::vector<UniqueFd>) { workbench_->release_spares(); }

Result<std::unique_ptr<ProcessRunner>> Judge::make_runner(std::int64_t pid,
                                                          std::vector<UniqueFd> fds,
                                                          std::unique_ptr<Arena> arena,
                                                          RunnerOptions options) const {
  if (fds.size() < 3)
    return internal_error("request: found " + std::to_string(fds.size()) +
                          " descriptors, expected those of a process");
  RunnerHandles handles;
  handles.socket = std::move(fds[0]);
  handles.artifact = std::move(fds[1]);
  handles.pidfd = std::move(fds[2]);
  if (fds.size() >= 5) {
    handles.freeze = std::move(fds[3]);
    handles.frozen_events = std::move(fds[4]);
  }
  handles.pid = static_cast<pid_t>(pid);
  HONE_ASSIGN(auto runner, ProcessRunner::create(std::move(arena), std::move(handles), options));
  if (device_code_) runner->set_witness(std::make_unique<Witness>(backend_, *witness_area_));
  return runner;
}

RunnerOptions Judge::options_for(const Task& task, const MeasureSettings& settings, bool module,
                                 bool limited) const {
  RunnerOptions options;
  options.observes = module;
  options.module = device_code_ && module;
  options.device_code = device_code_;
  const auto granted_end =
      cores_.begin() +
      static_cast<std::ptrdiff_t>(std::min(cores_.size(), static_cast<std::size_t>(task.threads)));
  // Untimed work leaves the judge's core to builders and launchers.
  options.spin = settings.measure && std::find(cores_.begin(), granted_end, cpu_) == granted_end;
  options.memory_bytes_max = limited && !device_code_ ? task.memory_mb << 20 : 0;
  options.one_thread = !options.module && (task.threads == 1 || device_code_);
  options.seconds_max = limited ? settings.submission_seconds : 0;
  options.defences = settings.defences;
  return options;
}

Result<Value> Judge::equip(std::vector<UniqueFd> fds) {
  if (fds.size() != 2)
    return internal_error("equip: found " + std::to_string(fds.size()) +
                          " descriptors, expected a harness and a known answer");
  HONE_ASSIGN(Value facts, backend_.facts(device_));
  device_code_ = true;
  HONE_ASSIGN(known_answer_, KnownAnswer::make(std::move(fds[1]), limits_));
  HONE_ASSIGN(witness_area_, WitnessArea::create(backend_, device_));
  HONE_ASSIGN(workbench_, make_device_workbench(backend_, device_, fds[0].get(), facts));
  return facts;
}

Result<std::unique_ptr<Arena>> Judge::take_arena(std::uint64_t bytes) {
  std::unique_ptr<Arena> spare = std::move(spare_);
  spare_bytes_ = bytes;
  if (spare != nullptr && spare->bytes() == page_round(bytes)) return spare;
  spare.reset();
  return Arena::create(backend_, device_, bytes, true);
}

Judgement Judge::install(InstallRequest request, std::vector<UniqueFd> fds) {
  Task task = judged_task(std::move(request.task), *workbench_);
  const MeasureSettings& settings = request.settings;
  const bool is_reference = request.role == TrustedRole::kReference;
  auto plans = Plans::make(task, std::move(request.plans), limits_);
  if (!plans) return fault(plans.error());
  const auto bytes = arena_bytes(task, settings, is_reference, 0, *plans);
  if (!bytes) return fault(bytes.error());
  // Inputs of several rounds of a module wait there for their answers to be checked, where there is memory for them.
  std::uint64_t more = *bytes;
  if (is_reference && device_code_ && request.module)
    more = with_kept_rounds(*bytes, workbench_->memory_bytes());
  const auto old = installed_.find(request.from);
  const std::uint64_t had = old == installed_.end() ? 0 : old->second.runner->arena().bytes();
  std::unique_ptr<Arena> arena;  // null: reuse an old one
  if (had < more || had > std::max(more, kRoundsKeptBytesMax)) {
    auto made = Arena::create(backend_, device_, more, false);
    if (!made && more > *bytes) made = Arena::create(backend_, device_, *bytes, false);
    if (!made) return fault(made.error());
    arena = std::move(*made);
  }
  // The memory limit of submissions does not apply to trusted code.
  Task unlimited = task;
  unlimited.memory_mb = 0;
  const RunnerOptions options = options_for(task, settings, request.module, false);
  std::unique_ptr<ProcessRunner> runner;
  Round ready;
  if (old != installed_.end()) {
    if (fds.size() != 1) return fault(internal_error("request: no artifact"));
    runner = std::move(old->second.runner);
    installed_.erase(old);
    ready = runner->reload(unlimited, std::move(*plans), std::move(fds[0]), std::move(arena),
                           options, kLoadSeconds);
  } else {
    auto made = make_runner(request.pid, std::move(fds), std::move(arena), options);
    if (!made) return fault(made.error());
    runner = std::move(*made);
    ready = runner->set_up(unlimited, std::move(*plans), cores_, kLoadSeconds);
  }
  const Culprit culprit = is_reference ? Culprit::kReference : Culprit::kBaseline;
  if (ready.ending != Ending::kDone) return blame(ready, culprit, {Place::kLoading});
  Installed entry{request.role, std::move(task), std::move(runner), {}};
  entry.trusted.runner = entry.runner.get();
  if (is_reference) {
    if (Judgement found = find_error(request, entry.task, entry.trusted); !passed(found))
      return found;
  } else {
    if (Judgement found = find_times(request, entry.task, entry.trusted); !passed(found))
      return found;
  }
  installed_.insert_or_assign(request.key, std::move(entry));
  Judgement done = correct_so_far();
  done.message = ready.message;
  note_warns_ = (ready.flags & HONE_PYTHON_WARNS) != 0;
  return done;
}

Result<DatasetRunner> Judge::installed(TrustedRole role, const std::string& key) const {
  const auto found = installed_.find(key);
  if (found == installed_.end())
    return internal_error("no " + std::string(enum_name(role)) + " is installed as '" + key + "'");
  return found->second.trusted;
}

Judgement Judge::judge(JudgeRequest request, std::vector<UniqueFd> fds) {
  Task& task = request.task = judged_task(std::move(request.task), *workbench_);
  const MeasureSettings& settings = request.settings;
  auto reference = installed(TrustedRole::kReference, request.reference);
  if (!reference) return fault(reference.error());
  auto baseline = installed(TrustedRole::kBaseline, request.baseline);
  if (!baseline) return fault(baseline.error());
  task.memory_mb = settings.defences.holds(Defence::kMemoryLimit)
                       ? memory_granted_mb(task, reference->error)
                       : 0;
  auto plans = Plans::make(task, std::move(request.plans), limits_);
  if (!plans) return fault(plans.error());
  auto bytes = arena_bytes(task, settings, false, baseline->call_seconds, *plans);
  if (!bytes) return fault(bytes.error());
  if (known_answer_) *bytes = std::max(*bytes, known_answer_->arena_bytes());
  RunnerOptions options = options_for(task, settings, request.module, true);
  if (request.kept && fds.size() == 1)
    return judge_kept(request, std::move(fds[0]), std::move(*plans), *bytes, options);
  auto arena = take_arena(*bytes);
  if (!arena) return fault(arena.error());
  auto runner = make_runner(request.pid, std::move(fds), std::move(arena).value(), options);
  if (!runner) return fault(runner.error());
  const auto set_up = [&] {
    return (*runner)->set_up(task, std::move(*plans), cores_, task.run_seconds);
  };
  Judgement judged = judge_with(**runner, set_up, request);
  if (device_code_ && !options.module && judged.ending == Ending::kDone)
    kept_.insert_or_assign(request.runner, std::move(*runner));
  return judged;
}

Judgement Judge::judge_with(ProcessRunner& runner, const std::function<Round()>& set_up,
                            const JudgeRequest& request) {
  const auto reference = installed(TrustedRole::kReference, request.reference);
  const auto baseline = installed(TrustedRole::kBaseline, request.baseline);
  HONE_ASSERT(reference && baseline);
  const SessionHost host = session_host();
  host.progress(JudgeStage::kLoad);
  const Round ready = set_up();
  if (ready.ending != Ending::kDone) return blame(ready, Culprit::kSubmission, {Place::kLoading});
  return Session({request.task, seed_of(request.seed), request.settings, *reference, *baseline,
                  runner, *workbench_, host})
      .judge();
}

Judgement Judge::judge_kept(const JudgeRequest& request, UniqueFd artifact, Plans plans,
                            std::uint64_t bytes, RunnerOptions options) {
  const Task& task = request.task;
  const Defences& defences = request.settings.defences;
  const auto found = kept_.find(request.runner);
  if (found == kept_.end()) return fault(internal_error("no runner of that id is kept"));
  std::unique_ptr<ProcessRunner> runner = std::move(found->second);
  kept_.erase(found);
  if (defences.holds(Defence::kKnownAnswer)) {
    const std::uint64_t secret = derive_seed(seed_of(request.seed), "known answer");
    if (Status known = known_answer_->ask(*runner, *workbench_, options, secret); !known)
      return {Ending::kRefused,
              Culprit::kKeptProcess,
              {Place::kKnownAnswer},
              known.error().message,
              {}};
  }
  std::unique_ptr<Arena> larger;
  if (runner->arena().bytes() < bytes) {
    auto arena = Arena::create(backend_, device_, bytes, false);
    if (!arena) return fault(arena.error());
    larger = std::move(*arena);
  } else if (defences.holds(Defence::kScrub)) {
    if (Status scrubbed = workbench_->scrub(runner->arena()); !scrubbed)
      return fault(scrubbed.error());
  }
  const auto reload = [&] {
    return runner->reload(task, std::move(plans), std::move(artifact), std::move(larger), options,
                          task.run_seconds);
  };
  Judgement judged = judge_with(*runner, reload, request);
  if (judged.ending == Ending::kDone) kept_.insert_or_assign(request.runner, std::move(runner));
  return judged;
}

}  // namespace hone
