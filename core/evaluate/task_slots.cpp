// Chooses the tasks that stay, and installs new ones.
#include "evaluate/task_slots.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/clock.hpp"
#include "base/crypto.hpp"
#include "base/log.hpp"

namespace hone {
namespace {

constexpr double kLastOutputSeconds =
    5;  // time for a process to end whose output explains a failure
// Most tasks that one process serves one after the other, because leftovers accumulate.
constexpr int kTasksOfProcess = 64;

/// Whether a process of one kind can also serve code for which one of another kind would be started.
bool can_serve(ProcessPool::Kind kind, ProcessPool::Kind wanted) {
  return kind == wanted ||
         (kind == ProcessPool::Kind::kReplayer && wanted == ProcessPool::Kind::kCandidate);
}

/// Gives a process of the reference the level of structure that an earlier process has found (module_reference.py).
void set_known_structure(FormPlans& plans, const Task& task, const ReferenceError& known) {
  const auto varied = plans.find(Form::kVaried);
  if (!known.structure || varied == plans.end()) return;
  varied->second = host_plan(
      task, std::string(enum_name(Form::kVaried)) + "_" + std::to_string(*known.structure));
}

}  // namespace

std::string installed_key(const std::string& task_key, TrustedRole role) {
  return task_key + "/" + std::string(enum_name(role));
}

Task without_sources(const Task& task) {
  Task bare = task;
  bare.backends.clear();
  return bare;
}

TaskSlots::TaskSlots(JudgeClient& judge, ProcessPool& pool, BuildPool& builds,
                     const EvaluatorOptions& options, TaskFindings& findings,
                     std::function<void(const std::string& step)> on_step)
    : judge_(judge),
      pool_(pool),
      builds_(builds),
      options_(options),
      findings_(findings),
      on_step_(std::move(on_step)) {}

std::uint64_t TaskSlots::held_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [key, installed] : installed_) bytes += installed.bytes;
  return bytes;
}

std::uint64_t TaskSlots::held_bytes_with(const SlotRequest& request) const {
  std::uint64_t bytes = request.need.expected();
  for (const auto& [key, installed] : installed_) bytes += key == request.key ? 0 : installed.bytes;
  const std::vector<std::string> to_drop = tasks_to_drop(request);
  const std::string inherited = task_to_inherit(to_drop, request);
  for (const std::string& each : to_drop)
    bytes -= each == inherited ? 0 : installed_.at(each).bytes;
  return bytes;
}

/// Sorted by last use, the oldest first.
std::vector<std::string> TaskSlots::tasks_to_drop(const SlotRequest& request) const {
  std::vector<std::string> keys;
  std::vector<std::uint64_t> bytes;
  for (const std::string& each : ages_) {
    if (each == request.key) continue;
    keys.push_back(each);
    bytes.push_back(installed_.at(each).bytes);
  }
  std::size_t count = keys.size() < options_.installed_max ? 0 : 1;
  if (request.drops_others) count = keys.size();
  if (request.device.bytes > 0)
    count = std::max(count,
                     count_to_evict(bytes, request.need.expected(), request.device.lane_bytes()));
  return {keys.rbegin(), keys.rbegin() + static_cast<std::ptrdiff_t>(count)};
}

/// During the change, the arenas of both tasks are on the device.
std::string TaskSlots::task_to_inherit(const std::vector<std::string>& to_drop,
                                       const SlotRequest& request) const {
  constexpr std::uint64_t kBytesMax = std::uint64_t{4} << 30;
  if (!uses_device(request.mode) || !has_module_reference(request.mode)) return "";
  const DeviceMemory& device = request.device;
  const auto found = std::find_if(to_drop.begin(), to_drop.end(), [&](const std::string& key) {
    const Installed& old = installed_.at(key);
    const bool fits =
        device.bytes == 0 || request.need.expected() + old.bytes <= device.shared_bytes();
    return old.mode == request.mode && old.baseline.process != nullptr &&
           old.tasks < kTasksOfProcess && old.bytes <= kBytesMax && fits;
  });
  return found == to_drop.end() ? "" : *found;
}

std::string TaskSlots::make_room(const SlotRequest& request) {
  const std::vector<std::string> to_drop = tasks_to_drop(request);
  const std::string inherited =
      has(request.key) || !request.may_inherit ? "" : task_to_inherit(to_drop, request);
  for (const std::string& each : to_drop) {
    if (each != inherited) drop(each);
  }
  return inherited;
}

std::set<std::string> TaskSlots::keys() const {
  std::set<std::string> keys;
  for (const auto& [key, installed] : installed_) keys.insert(key);
  return keys;
}

Status TaskSlots::install(const SlotRequest& request, const std::string& inherited) {
  if (const auto found = installed_.find(request.key); found != installed_.end()) {
    ages_.splice(ages_.begin(), ages_, found->second.age);
    return {};
  }
  const std::uint64_t inherited_bytes = inherited.empty() ? 0 : installed_.at(inherited).bytes;
  Installed made;
  HONE_TRY(inherited.empty() ? install_new(request, made) : install_over(inherited, request, made));
  made.mode = request.mode;
  // The judge may keep the other task's arenas.
  made.bytes = std::max(request.need.installed(), inherited_bytes);
  ages_.push_front(request.key);
  made.age = ages_.begin();
  installed_[request.key] = std::move(made);
  return {};
}

void TaskSlots::drop(const std::string& key) {
  const auto found = installed_.find(key);
  if (found == installed_.end()) return;
  tell_dropped(key);
  pool_.end(std::move(found->second.reference.process));
  pool_.end(std::move(found->second.baseline.process));
  ages_.erase(found->second.age);
  installed_.erase(found);
}

void TaskSlots::drop_all() {
  while (!installed_.empty()) drop(std::string(ages_.back()));
}

void TaskSlots::clear() {
  for (auto& [key, installed] : installed_) {
    pool_.end(std::move(installed.reference.process));
    pool_.end(std::move(installed.baseline.process));
  }
  installed_.clear();
  ages_.clear();
}

void TaskSlots::tell_dropped(const std::string& key) {
  for (const TrustedRole role : {TrustedRole::kReference, TrustedRole::kBaseline})
    judge_.drop(installed_key(key, role));
}

Status TaskSlots::install_new(const SlotRequest& request, Installed& made) {
  const Status both = [&]() -> Status {
    const auto start_new = [&](TrustedRole role) -> Result<Running> {
      HONE_ASSIGN(const Code code, build(request, role));
      return start(request, role, code);
    };
    HONE_ASSIGN(made.reference, start_new(TrustedRole::kReference));
    if (is_timed(request.mode)) {
      HONE_ASSIGN(made.baseline, start_new(TrustedRole::kBaseline));
    }
    return {};
  }();
  if (both) return {};
  if (!judge_.awaits_reply()) tell_dropped(request.key);
  pool_.end(std::move(made.reference.process));
  return both;
}

/// In the processes of another task, which goes. Rationale: two contexts take a quarter of a second, and the dataset's own
/// modules are trusted with each other's process. If that fails, an earlier task may be the cause, and this one gets
/// processes of its own.
Status TaskSlots::install_over(const std::string& old_key, const SlotRequest& request,
                               Installed& made) {
  const auto found = installed_.find(old_key);
  Installed old = std::move(found->second);
  ages_.erase(old.age);
  installed_.erase(found);
  made.tasks = old.tasks + 1;
  const Status over = [&]() -> Status {
    HONE_ASSIGN(made.reference,
                reuse(request, TrustedRole::kReference, std::move(old.reference), old_key));
    HONE_ASSIGN(made.baseline,
                reuse(request, TrustedRole::kBaseline, std::move(old.baseline), old_key));
    return {};
  }();
  const std::string& id = request.task->id;
  if (over) {
    log_debug("evaluate", "task " + id + " takes over processes of another task");
    return {};
  }
  if (!judge_.awaits_reply()) {
    tell_dropped(old_key);
    tell_dropped(request.key);
  }
  pool_.end(std::move(made.reference.process));
  pool_.end(std::move(old.baseline.process));
  if (judge_.awaits_reply()) return over.error();
  pool_.await_ended();  // they may hold the missing memory
  log_info("evaluate", "task " + id + " gets processes of its own: " + over.error().message);
  made = {};
  return install_new(request, made);
}

ProcessPool::Kind TaskSlots::kind_of(const Code& code) {
  return is_module(code.mode) ? ProcessPool::Kind::kTrustedModule
                              : kind_without_python(*code.built, code.mode);
}

/// Rationale: a build in a lane keeps other lanes from measuring, because the lane shares the device's lock meanwhile. The
/// recording of a baseline takes up to a second.
Result<TrustedCode> TaskSlots::find_or_build(const SlotRequest& request, TrustedRole role) {
  if (const auto& brought = request.codes.of(role); brought != nullptr) return *brought;
  HONE_ASSIGN(PlannedSource source, planned_trusted(*request.task, role, options_));
  return build_planned(std::move(source), builds_);
}

Result<TaskSlots::Code> TaskSlots::build(const SlotRequest& request, TrustedRole role) {
  const Task& task = *request.task;
  HONE_ASSIGN(TrustedCode made, find_or_build(request, role));
  const Mode mode =
      role == TrustedRole::kReference ? mode_of_reference(request.mode) : request.mode;
  Code code{std::move(made.plans), std::move(made.built), mode};
  const std::string name(enum_name(role));
  if (!code.built->ok) {
    const std::string message =
        "the " + name + " of task " + task.id + " does not build: " + code.built->diagnostics;
    return code.built->failure == BuildFailure::kRefused ? failed_precondition(message)
                                                         : internal_error(message);
  }
  if (code.mode == Mode::kRecordedModule && code.built->plan == nullptr)
    return internal_error("the " + name + " of task " + task.id +
                          " has no plan: " + code.built->not_recorded);
  return code;
}

Result<TaskSlots::Running> TaskSlots::start(const SlotRequest& request, TrustedRole role,
                                            const Code& code) {
  const ProcessPool::Kind kind = kind_of(code);
  HONE_ASSIGN(ProcessPool::Standby process,
              kind == ProcessPool::Kind::kTrustedModule ? pool_.take(kind) : pool_.start(kind));
  return set_up(request, role, code, std::move(process), kind, "");
}

/// In the process of another task, if that can serve this code.
Result<TaskSlots::Running> TaskSlots::reuse(const SlotRequest& request, TrustedRole role,
                                            Running old, const std::string& old_key) {
  const std::string from = installed_key(old_key, role);
  const Result<Code> code = build(request, role);
  if (code && can_serve(old.kind, kind_of(*code)))
    return set_up(request, role, *code, {std::move(old.process), {}, false}, old.kind, from);
  judge_.drop(from);
  pool_.end(std::move(old.process));
  if (!code) return code.error();
  return start(request, role, *code);
}

/// `from`: the judge's key of the entry whose process is reused; empty: none. After a failure the process is
/// ended.
Result<TaskSlots::Running> TaskSlots::set_up(const SlotRequest& request, TrustedRole role,
                                             const Code& code, ProcessPool::Standby process,
                                             ProcessPool::Kind kind, const std::string& from) {
  if (const Status installed = ask(request, role, code, process, from); !installed) {
    pool_.end(std::move(process.process));
    return installed.error();
  }
  return Running{std::move(process.process), kind};
}

Status TaskSlots::ask(const SlotRequest& request, TrustedRole role, const Code& code,
                      const ProcessPool::Standby& process, const std::string& from) {
  const Task& task = *request.task;
  on_step_("install the " + std::string(enum_name(role)) + " of");
  InstallRequest install;
  install.role = role;
  install.key = installed_key(request.key, role);
  install.reference = installed_key(request.key, TrustedRole::kReference);
  install.from = from;
  install.module = is_module(code.mode);
  install.task = without_sources(task);
  install.settings = settings_of(request.mode, options_.measure);
  install.seed = static_cast<std::int64_t>(random_u64() >> 1);
  install.plans = code.plans;
  if (role == TrustedRole::kBaseline) {
    install.known_times = findings_.baseline_times.find(install.key);
  } else if (task.tolerance.from_reference) {
    install.known_error = findings_.reference_errors.find(install.key);
    if (install.known_error && options_.measure.defences.holds(Defence::kSpikes))
      set_known_structure(install.plans, task, *install.known_error);
  }
  const bool is_known = install.known_times || install.known_error;
  const PassedProcess handed{*process.process, process.socket.get()};
  const double begun_s = monotonic_s();
  HONE_ASSIGN(const auto reply, judge_.install(std::move(install), from.empty() ? &handed : nullptr,
                                               artifact_of(*code.built, code.mode)));
  const auto* installed = std::get_if<InstalledReply>(&reply);
  if (installed == nullptr)
    return failure(request, role, *process.process, std::get<Judgement>(reply));
  if (!installed->note.empty())
    log(installed->note_warns ? LogLevel::kWarning : LogLevel::kInfo, "evaluate",
        "task " + task.id + ": " + installed->note);
  if (!is_known) note_installed(request, role, *installed);
  log_debug("evaluate", "task " + task.id + ": its " + std::string(enum_name(role)) + " took " +
                            std::to_string(monotonic_s() - begun_s) + " s to install" +
                            (from.empty() ? "" : ", in a process of another task"));
  return {};
}

void TaskSlots::note_installed(const SlotRequest& request, TrustedRole role,
                               const InstalledReply& reply) {
  const std::string key = installed_key(request.key, role);
  if (reply.times && uses_device(request.mode)) findings_.baseline_times.keep(key, *reply.times);
  if (reply.error) findings_.reference_errors.keep(key, *reply.error);
}

/// The error of a code that the judge could not install.
Error TaskSlots::failure(const SlotRequest& request, TrustedRole role, Process& process,
                         const Judgement& judgement) const {
  const bool is_wrong = judgement.ending == Ending::kDone;
  std::string message = "the " + std::string(enum_name(role)) + " of task " + request.task->id +
                        " cannot be used: " +
                        (is_wrong ? judgement.verdict.reason
                                  : std::string(enum_name(judgement.ending)) +
                                        in_where(judgement.where) + ": " + judgement.message);
  // The last output of an interpreter may say that torch is missing.
  const bool has_ended_itself = has_ended(process, 0);
  process.kill();
  if (const auto exit = process.wait(kLastOutputSeconds)) {
    if (has_ended_itself && exit->signal != 0)
      message += "; it ended by " + signal_name(exit->signal);
    if (!exit->output.empty()) message += "; its output: " + exit->output;
  }
  // More memory may be free once others have ended.
  if (judgement.ending == Ending::kOutOfMemory) return resource_exhausted(message);
  // A mistake in the task, unless the judge or the machine failed.
  const bool is_fault = judgement.ending == Ending::kFault || judgement.culprit == Culprit::kNone ||
                        judgement.ending == Ending::kStarved;
  if (!is_wrong && is_fault) return internal_error(message);
  return failed_precondition(message);
}

}  // namespace hone
