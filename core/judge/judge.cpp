// The judge's loop.
#include "judge/judge.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "judge/admit.hpp"
#include "judge/blame.hpp"
#include "judge/fill.hpp"
#include "judge/messages.hpp"
#include "judge/request_fields.hpp"
#include "judge/timing/processes/kept_rounds.hpp"
#include "judge/timing/round_size.hpp"
#include "model/fields.hpp"

namespace hone {
namespace {

constexpr double kForever = 1e9;
constexpr std::size_t kMessageMax = 16u << 20;
constexpr double kLoadSeconds = 60;  // of a task's own code, which may be compiled

Result<MeasureSettings> settings_of(const Value& request) {
  const Value* settings = request.find("settings");
  return settings == nullptr ? MeasureSettings() : settings_from_value(*settings);
}

}  // namespace

Judge::Judge(int socket, const Backend& backend, hone_device* device, int cpu,
             std::vector<int> cores)
    : socket_(socket), backend_(backend), device_(device), cpu_(cpu), cores_(std::move(cores)) {}

void Judge::serve() {
  for (;;) {
    auto message = receive_message(socket_, kMessageMax, kForever);
    if (!message) return;
    answer(std::move(message).value());
  }
}

void Judge::say(const Value& value) const {
  static_cast<void>(send_message(socket_, to_msgpack(value), {}, 10));
}

void Judge::say_judged(const Judgement& judgement, bool kept) {
  Value answer = Value::map(
      {{"kind", "judged"}, {"judgement", judgement_to_value(judgement)}, {"kept", kept}});
  const Vouched vouched = std::exchange(vouched_, {});
  if (vouched.calls > 0) answer.set("vouched", vouched_to_value(vouched));
  say(answer);
}

void Judge::answer(StreamMessage message) {
  auto request = from_msgpack(message.bytes);
  if (!request) return say_judged(fault(request.error()));
  const std::string verb = text_of(*request, "verb");
  if (verb == "drop") {
    installed_.erase(text_of(*request, "key"));
  } else if (verb == "forget") {
    kept_.erase(integer_of(*request, "runner"));
  } else if (verb == "trim") {
    workbench_->release_spares();
  } else if (verb == "equip") {
    auto facts = equip(std::move(message.fds));
    if (!facts) return say_judged(fault(facts.error()));
    say(Value::map({{"kind", "equipped"}, {"facts", std::move(facts).value()}}));
  } else if (verb == "install") {
    const Judgement done = install(*request, std::move(message.fds));
    if (!passed(done)) return say_judged(done);
    const Trusted& made = installed_.at(text_of(*request, "key")).trusted;
    say(Value::map({{"kind", "installed"},
                    {"note", done.message},
                    {"note_warns", note_warns_},
                    {"calibration", made.error ? reference_error_to_value(*made.error)
                                               : calibration_to_value(made)}}));
  } else if (verb == "judge") {
    const Judgement judged = judge(*request, std::move(message.fds));
    say_judged(judged, kept_.count(integer_of(*request, "runner")) != 0);
    if (spare_bytes_ == 0 || device_code_) return;
    if (auto spare = Arena::create(backend_, device_, spare_bytes_, true)) {
      spare_ = std::move(spare).value();
    }
  } else if (verb == "admit") {
    auto report = admit(*request);
    if (!report) return say_judged(fault(report.error()));
    say(Value::map({{"kind", "admitted"}, {"report", std::move(report).value()}}));
  } else {
    say_judged(fault(internal_error("no verb is called '" + verb + "'")));
  }
}

Result<std::unique_ptr<ProcessRunner>> Judge::make_runner(
    const Value& request, std::vector<UniqueFd> fds, const Task& task,
    const MeasureSettings& settings, std::unique_ptr<Arena> arena, bool limited) const {
  const Value* pid = request.find("pid");
  if (fds.size() < 3 || pid == nullptr || !pid->is_int())
    return internal_error("request: no process");
  RunnerHandles handles;
  handles.socket = std::move(fds[0]);
  handles.artifact = std::move(fds[1]);
  handles.pidfd = std::move(fds[2]);
  if (fds.size() >= 5) {
    handles.freeze = std::move(fds[3]);
    handles.frozen_events = std::move(fds[4]);
  }
  handles.pid = static_cast<pid_t>(pid->as_int());
  HONE_ASSIGN(auto runner, ProcessRunner::create(std::move(arena), std::move(handles),
                                                 options_for(request, task, settings, limited)));
  if (device_code_) runner->set_witness(std::make_unique<Witness>(backend_, *witness_area_));
  return runner;
}

RunnerOptions Judge::options_for(const Value& request, const Task& task,
                                 const MeasureSettings& settings, bool limited) const {
  RunnerOptions options;
  options.observes = flag_of(request, "module");
  options.module = device_code_ && options.observes;
  options.keeps = options.module && flag_of(request, "keeps");
  options.device_code = device_code_;
  const auto granted_end =
      cores_.begin() +
      static_cast<std::ptrdiff_t>(std::min(cores_.size(), static_cast<std::size_t>(task.threads)));
  // What is not timed leaves the judge's core to builders and launchers.
  options.spin = settings.measure && std::find(cores_.begin(), granted_end, cpu_) == granted_end;
  options.memory_bytes_max = limited && !device_code_ ? task.memory_mb << 20 : 0;
  options.one_thread = !options.module && (task.threads == 1 || device_code_);
  options.seconds_max = limited ? settings.submission_seconds : 0;
  options.defences = settings.defences;
  return options;
}

Result<Value> Judge::equip(std::vector<UniqueFd> fds) {
  HONE_ASSIGN(Value facts, backend_.facts(device_));
  limits_ = limits_of(facts);
  if (fds.empty()) return facts;
  if (fds.size() != 2) return internal_error("request: expected a harness and a known answer");
  device_code_ = true;
  HONE_ASSIGN(known_answer_, KnownAnswer::make(std::move(fds[1]), limits_));
  HONE_ASSIGN(witness_area_, WitnessArea::create(backend_, device_));
  HONE_ASSIGN(workbench_, make_device_workbench(backend_, device_, fds[0].get(), facts));
  return facts;
}

Result<Task> Judge::task_of(const Value& request) const {
  const Value* value = request.find("task");
  if (value == nullptr) return internal_error("request: no task");
  HONE_ASSIGN(Task task, task_from_value(*value));
  task.narrow_answers = answers_are_narrow(task, workbench_->memory_bytes());
  return task;
}

Result<Plans> Judge::plans_of(const Value& request, const Task& task) const {
  const Value* plan = request.find("plan");
  if (plan == nullptr) return internal_error("request: no plan");
  std::map<Form, Plan> plans;
  HONE_ASSIGN(plans[Form::kEntry], plan_from_value(*plan));
  for (const auto& [key, form] : {std::pair("exact", Form::kExact),
                                  {"inputs", Form::kInputs},
                                  {"varied", Form::kVaried},
                                  {"own", Form::kOwn},
                                  {"strict", Form::kStrict},
                                  {"error", Form::kError},
                                  {"shortcuts", Form::kShortcuts}}) {
    const Value* other = request.find(key);
    if (other == nullptr) continue;
    HONE_ASSIGN(plans[form], plan_from_value(*other));
  }
  return Plans::make(task, std::move(plans), limits_);
}

Result<std::unique_ptr<Arena>> Judge::take_arena(std::uint64_t bytes) {
  std::unique_ptr<Arena> spare = std::move(spare_);
  spare_bytes_ = bytes;
  if (spare != nullptr && spare->bytes() == page_round(bytes)) return spare;
  spare.reset();
  return Arena::create(backend_, device_, bytes, true);
}

Judgement Judge::install(const Value& request, std::vector<UniqueFd> fds) {
  auto task = task_of(request);
  if (!task) return fault(task.error());
  auto settings = settings_of(request);
  if (!settings) return fault(settings.error());
  const bool is_reference = text_of(request, "role") == "reference";
  auto plans = plans_of(request, *task);
  if (!plans) return fault(plans.error());
  const auto bytes = arena_bytes(*task, *settings, is_reference, 0, *plans);
  if (!bytes) return fault(bytes.error());
  // Inputs of several rounds of a module wait there for their answers to be checked, where there is memory for them.
  std::uint64_t more = *bytes;
  if (is_reference && device_code_ && flag_of(request, "module"))
    more = with_kept_rounds(*bytes, workbench_->memory_bytes());
  const auto old = installed_.find(text_of(request, "from"));
  const std::uint64_t had = old == installed_.end() ? 0 : old->second.runner->arena().bytes();
  std::unique_ptr<Arena> arena;  // none: what an old one has will do
  if (had < more || had > std::max(more, kRoundsKeptBytesMax)) {
    auto made = Arena::create(backend_, device_, more, false);
    if (!made && more > *bytes) made = Arena::create(backend_, device_, *bytes, false);
    if (!made) return fault(made.error());
    arena = std::move(*made);
  }
  // Trusted code has no business with the memory limit of submissions.
  Task unlimited = *task;
  unlimited.memory_mb = 0;
  std::unique_ptr<ProcessRunner> runner;
  Round ready;
  if (old != installed_.end()) {
    if (fds.size() != 1) return fault(internal_error("request: no artifact"));
    runner = std::move(old->second.runner);
    installed_.erase(old);
    ready = runner->reload(unlimited, std::move(*plans), std::move(fds[0]), std::move(arena),
                           options_for(request, *task, *settings, false), kLoadSeconds);
  } else {
    auto made = make_runner(request, std::move(fds), *task, *settings, std::move(arena), false);
    if (!made) return fault(made.error());
    runner = std::move(*made);
    ready = runner->set_up(unlimited, std::move(*plans), cores_, kLoadSeconds);
  }
  const Culprit culprit = is_reference ? Culprit::kReference : Culprit::kBaseline;
  if (ready.ending != Ending::kDone) return blame(ready, culprit, {Place::kLoading});
  Installed entry{std::move(*task), std::move(runner), {}};
  entry.trusted.runner = entry.runner.get();
  if (is_reference) {
    if (Judgement found = find_error(request, entry.task, entry.trusted); !passed(found))
      return found;
  } else {
    entry.trusted.last = std::make_shared<BaselineBlock>();
    if (Judgement found = find_times(request, entry.task, entry.trusted); !passed(found))
      return found;
  }
  installed_.insert_or_assign(text_of(request, "key"), std::move(entry));
  Judgement done = correct_so_far();
  done.message = ready.message;
  note_warns_ = (ready.flags & HONE_PYTHON_WARNS) != 0;
  return done;
}

Result<Trusted> Judge::installed(const Value& request, std::string_view role) const {
  const auto found = installed_.find(text_of(request, role));
  if (found == installed_.end()) return internal_error("no " + std::string(role) + " is installed");
  return found->second.trusted;
}

Judgement Judge::judge(const Value& request, std::vector<UniqueFd> fds) {
  auto task = task_of(request);
  if (!task) return fault(task.error());
  auto settings = settings_of(request);
  if (!settings) return fault(settings.error());
  auto reference = installed(request, "reference");
  if (!reference) return fault(reference.error());
  auto baseline = installed(request, "baseline");
  if (!baseline) return fault(baseline.error());
  task->memory_mb = settings->defences.holds(Defence::kMemoryLimit)
                        ? memory_granted_mb(*task, reference->error)
                        : 0;
  auto plans = plans_of(request, *task);
  if (!plans) return fault(plans.error());
  auto bytes = arena_bytes(*task, *settings, false, baseline->call_seconds, *plans);
  if (!bytes) return fault(bytes.error());
  if (known_answer_) *bytes = std::max(*bytes, known_answer_->arena_bytes());
  if (flag_of(request, "kept") && fds.size() == 1)
    return judge_kept(request, std::move(fds[0]), *task, *settings, std::move(*plans), *bytes);
  auto arena = take_arena(*bytes);
  if (!arena) return fault(arena.error());
  auto runner =
      make_runner(request, std::move(fds), *task, *settings, std::move(arena).value(), true);
  if (!runner) return fault(runner.error());
  const auto set_up = [&] {
    return (*runner)->set_up(*task, std::move(*plans), cores_, task->run_seconds);
  };
  Judgement judged = judge_with(**runner, set_up, request, *task, *settings);
  if (device_code_ && judged.ending == Ending::kDone) keep(request, *settings, std::move(*runner));
  return judged;
}

/// A module's process stands still from now on.
void Judge::keep(const Value& request, const MeasureSettings& settings,
                 std::unique_ptr<ProcessRunner> runner) {
  if (runner->withholds() && !stands_still(*runner, *workbench_, settings.defences)) return;
  kept_.insert_or_assign(integer_of(request, "runner"), std::move(runner));
}

Judgement Judge::judge_with(ProcessRunner& runner, const std::function<Round()>& set_up,
                            const Value& request, const Task& task,
                            const MeasureSettings& settings) {
  const auto reference = installed(request, "reference");
  auto baseline = installed(request, "baseline");
  HONE_ASSERT(reference && baseline);
  if (const Value* known = request.find("vouched"); known != nullptr) {
    const auto vouched = vouched_from_value(*known);
    if (!vouched) return fault(vouched.error());
    baseline->vouched = *vouched;
  }
  const SessionHost host = session_host();
  Session session(
      {task, seed_of(request), settings, *reference, *baseline, runner, *workbench_, host});
  if (Judgement begun = session.begin(); !passed(begun)) return begun;
  host.progress("load");
  const Round ready = set_up();
  if (ready.ending != Ending::kDone) return blame(ready, Culprit::kSubmission, {Place::kLoading});
  Judgement judged = session.judge();
  vouched_ = session.vouched();
  return judged;
}

Judgement Judge::judge_kept(const Value& request, UniqueFd artifact, const Task& task,
                            const MeasureSettings& settings, Plans plans, std::uint64_t bytes) {
  const auto found = kept_.find(integer_of(request, "runner"));
  if (found == kept_.end()) return fault(internal_error("no runner of that id is kept"));
  std::unique_ptr<ProcessRunner> runner = std::move(found->second);
  kept_.erase(found);
  const RunnerOptions options = options_for(request, task, settings, true);
  if (!runner->withholds() && settings.defences.holds(Defence::kKnownAnswer)) {
    const std::uint64_t secret = derive_seed(seed_of(request), "known answer");
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
  } else if (settings.defences.holds(Defence::kScrub)) {
    if (Status scrubbed = workbench_->scrub(runner->arena()); !scrubbed)
      return fault(scrubbed.error());
  }
  const auto reload = [&] {
    return runner->reload(task, std::move(plans), std::move(artifact), std::move(larger), options,
                          task.run_seconds);
  };
  Judgement judged = judge_with(*runner, reload, request, task, settings);
  if (judged.ending == Ending::kDone) keep(request, settings, std::move(runner));
  return judged;
}

Result<Value> Judge::admit(const Value& request) {
  HONE_ASSIGN(const Task task, task_of(request));
  HONE_ASSIGN(const Trusted reference, installed(request, "reference"));
  return admit_task(task, seed_of(request), reference, *workbench_);
}

}  // namespace hone
