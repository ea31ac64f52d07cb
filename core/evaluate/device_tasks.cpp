// The tasks that a device keeps ready: a reference and a baseline each, in processes of theirs.
#include <algorithm>

#include "base/crypto.hpp"
#include "base/log.hpp"
#include "evaluate/device.hpp"
#include "evaluate/interpreter.hpp"

namespace hone {
namespace {

constexpr int kTasksOfProcess =
    64;  // that it serves one after the other: what they leave behind adds up

}  // namespace

std::string task_key(const Task& task) { return sha256_hex(to_msgpack(task_to_value(task))); }

std::string installed_key(const std::string& task_key, TrustedRole role) {
  return task_key + "/" + std::string(enum_name(role));
}

Task without_sources(const Task& task) {
  Task bare = task;
  bare.backends.clear();
  return bare;
}

Result<std::unique_ptr<Process>> Device::install(const std::shared_ptr<const Task>& task,
                                                 TrustedRole role, const std::string& key) {
  const bool module = is_module(*task, options_);
  HONE_ASSIGN(Runner runner, module ? take(Kind::kTrustedModule) : start_candidate());
  return install(task, role, key, std::move(runner), "");
}

Result<std::unique_ptr<Process>> Device::install(const std::shared_ptr<const Task>& task,
                                                 TrustedRole role, const std::string& key,
                                                 Runner runner, const std::string& from) {
  if (const Status installed = install_in(runner, task, role, key, from); !installed) {
    let_go(std::move(runner.process));
    return installed.error();
  }
  return std::move(runner.process);
}

Status Device::install_in(const Runner& runner, const std::shared_ptr<const Task>& task,
                          TrustedRole role, const std::string& key, const std::string& from) {
  HONE_ASSIGN(const PlannedSource source, role == TrustedRole::kReference
                                              ? planned_reference(*task, options_)
                                              : planned_baseline(*task, options_));
  HONE_ASSIGN(const auto built, builds_.build(source.build));
  const std::string name(enum_name(role));
  if (!built->ok) {
    const std::string message =
        "the " + name + " of task " + task->id + " does not build: " + built->diagnostics;
    return built->failure == BuildFailure::kRefused ? failed_precondition(message)
                                                    : internal_error(message);
  }
  set_work("install the " + name + " of");
  InstallRequest request;
  request.role = role;
  request.key = installed_key(key, role);
  request.reference = installed_key(key, TrustedRole::kReference);
  request.from = from;
  request.module = is_module(*task, options_);
  request.task = without_sources(*task);
  request.settings = settings_for(*task, options_.measure);
  request.seed = static_cast<std::int64_t>(random_u64() >> 1);
  request.plans = source.plans;
  if (role == TrustedRole::kBaseline) {
    request.known_times = shared_.baseline_times.find(request.key);
  } else if (task->tolerance.from_reference) {
    request.known_error = shared_.reference_errors.find(request.key);
  }
  const bool known = request.known_times || request.known_error;
  const std::string installed_as = request.key;
  const HandedProcess handed{*runner.process, runner.socket.get()};
  HONE_ASSIGN(const auto reply, judge_.install(std::move(request), from.empty() ? &handed : nullptr,
                                               built->artifact));
  if (const auto* installed = std::get_if<InstalledReply>(&reply)) {
    if (!installed->note.empty())
      log(installed->note_warns ? LogLevel::kWarning : LogLevel::kInfo, "evaluate",
          "task " + task->id + ": " + installed->note);
    if (!known && installed->times && options_.device_code)
      shared_.baseline_times.keep(installed_as, *installed->times);
    if (!known && installed->error) shared_.reference_errors.keep(installed_as, *installed->error);
    return {};
  }
  const auto& judgement = std::get<Judgement>(reply);
  const bool done = judgement.ending == Ending::kDone;  // and the answers were wrong
  const bool memory = judgement.ending == Ending::kOutOfMemory;
  std::string message = "the " + name + " of task " + task->id + " cannot be used: " +
                        (done ? judgement.verdict.reason
                              : std::string(enum_name(judgement.ending)) +
                                    in_where(judgement.where) + ": " + judgement.message);
  // What an interpreter said on its way out: that it has no torch, for example.
  runner.process->kill();
  if (const auto exit = runner.process->wait(kExitSeconds); exit && !exit->output.empty())
    message += "; it said: " + exit->output;
  // There may be more of it once others are gone.
  if (memory) return resource_exhausted(message);
  // The task's mistake, unless it was the judge's own or the machine's.
  const bool fault = judgement.ending == Ending::kFault || judgement.culprit == Culprit::kNone ||
                     judgement.ending == Ending::kStarved;
  if (!done && fault) return internal_error(message);
  return failed_precondition(message);
}

void Device::drop(const std::string& key) {
  const auto found = installed_.find(key);
  if (found == installed_.end()) return;
  send_drop(key);
  let_go(std::move(found->second.reference));
  let_go(std::move(found->second.baseline));
  ages_.erase(found->second.age);
  installed_.erase(found);
}

void Device::send_drop(const std::string& key) {
  for (const TrustedRole role : {TrustedRole::kReference, TrustedRole::kBaseline})
    judge_.drop(installed_key(key, role));
}

/// Nothing of it is left where it fails.
Status Device::install_both(const std::shared_ptr<const Task>& task, const std::string& key,
                            Installed& made) {
  const Status both = [&]() -> Status {
    HONE_ASSIGN(made.reference, install(task, TrustedRole::kReference, key));
    // What is not measured has no baseline.
    if (is_timed(*task, options_)) {
      HONE_ASSIGN(made.baseline, install(task, TrustedRole::kBaseline, key));
    }
    return {};
  }();
  if (both) return {};
  if (!judge_.owes_reply()) send_drop(key);
  let_go(std::move(made.reference));
  return both;
}

/// Rationale: two contexts take a quarter of a second, and the dataset's own modules are trusted with each other's
/// process. What one of them left behind is not held against the next: then it gets processes of its own.
Status Device::install_over(const std::string& old_key, const std::shared_ptr<const Task>& task,
                            const std::string& key, Installed& made) {
  const auto found = installed_.find(old_key);
  Installed old = std::move(found->second);
  ages_.erase(old.age);
  installed_.erase(found);
  made.tasks = old.tasks + 1;
  const auto again = [&](std::unique_ptr<Process> process, TrustedRole role) {
    return install(task, role, key, Runner{std::move(process), {}, false},
                   installed_key(old_key, role));
  };
  const Status over = [&]() -> Status {
    HONE_ASSIGN(made.reference, again(std::move(old.reference), TrustedRole::kReference));
    HONE_ASSIGN(made.baseline, again(std::move(old.baseline), TrustedRole::kBaseline));
    return {};
  }();
  if (over) {
    log_debug("evaluate", "task " + task->id + " takes over another's processes");
    return {};
  }
  if (!judge_.owes_reply()) {
    send_drop(old_key);
    send_drop(key);
  }
  for (std::unique_ptr<Process>* left : {&made.reference, &old.baseline}) let_go(std::move(*left));
  if (judge_.owes_reply()) return over.error();
  await_last();  // what they hold of the device may be what is missing
  log_info("evaluate", "task " + task->id + " gets processes of its own: " + over.error().message);
  made = {};
  return install_both(task, key, made);
}

/// Rationale: what is wrong with a task says nothing of the judge, which holds others'. One that owes an answer, or did
/// not say what is wrong, starts afresh.
Result<std::string> Device::ensure_installed(const std::shared_ptr<const Task>& task) {
  auto key = find_or_install(task);
  if (key) return key;
  const bool of_task =
      key.error().code == Code::kFailedPrecondition || key.error().code == Code::kInvalidArgument;
  if (judge_.owes_reply() || !of_task) stop_judge();
  return key;
}

Result<std::string> Device::find_or_install(const std::shared_ptr<const Task>& task) {
  if (task->backends.count(options_.backend) == 0) {
    return invalid_argument("task " + task->id + " has no sources for backend " + options_.backend);
  }
  const std::string key = task_key(*task);
  const auto found = installed_.find(key);
  const bool ready = found != installed_.end();
  HONE_ASSIGN(const MemoryNeed need, need_of(*task));
  const std::vector<std::string> to_drop = tasks_to_drop(need, key);
  const std::string inherited = ready || drops_others_ ? "" : task_to_inherit(to_drop, *task, need);
  for (const std::string& each : to_drop) {
    if (each != inherited) drop(each);
  }
  await_last();
  shared_.ledger.settle(lane_, reserved_bytes_);
  if (ready) {
    ages_.splice(ages_.begin(), ages_, found->second.age);
    return key;
  }
  const std::uint64_t inherited_bytes = inherited.empty() ? 0 : installed_.at(inherited).bytes;
  Installed made;
  if (inherited.empty()) {
    HONE_TRY(install_both(task, key, made));
  } else {
    HONE_TRY(install_over(inherited, task, key, made));
  }
  made.module = is_module(*task, options_);
  // The judge may keep the other task's arenas.
  made.bytes = std::max(need.installed(), inherited_bytes);
  ages_.push_front(key);
  made.age = ages_.begin();
  installed_[key] = std::move(made);
  return key;
}

/// The dropped task whose processes the new task inherits, or "". Both tasks' arenas are on the device for a moment.
std::string Device::task_to_inherit(const std::vector<std::string>& to_drop, const Task& task,
                                    const MemoryNeed& need) const {
  constexpr std::uint64_t kBytesMax = std::uint64_t{4} << 30;
  if (!options_.device_code || !is_module(task, options_) || !is_timed(task, options_)) return "";
  const DeviceMemory device = memory();
  const auto found = std::find_if(to_drop.begin(), to_drop.end(), [&](const std::string& key) {
    const Installed& old = installed_.at(key);
    const bool fits = device.bytes == 0 || need.expected() + old.bytes <= device.pool();
    return old.module && old.baseline != nullptr && old.tasks < kTasksOfProcess &&
           old.bytes <= kBytesMax && fits;
  });
  return found == to_drop.end() ? "" : *found;
}

Result<Value> Device::admit(const std::shared_ptr<const Task>& task, std::uint64_t seed) {
  task_id_ = task->id;
  HONE_ASSIGN(const MemoryPlace place, place_of(*task));
  DeviceJob job;
  job.task = task;
  HONE_TRY(claim_memory(job, place == MemoryPlace::kWhole));
  HONE_TRY(take_turn(true));
  if (place == MemoryPlace::kWhole) have_to_itself();
  ends_s_ = monotonic_s() + hold_seconds(options_);
  HONE_TRY(ensure_judge());
  HONE_ASSIGN(const std::string key, ensure_installed(task));
  set_work("admit");
  const auto admitted = judge_.admit({installed_key(key, TrustedRole::kReference),
                                      without_sources(*task), static_cast<std::int64_t>(seed)});
  if (!admitted) stop_judge();  // as in run_once()
  drop_all_tasks();
  rest();  // others judge the task's golden answers next
  if (!admitted) return admitted.error();
  if (const auto* report = std::get_if<Value>(&*admitted)) return *report;
  return internal_error("admission of " + task->id + ": " + std::get<Judgement>(*admitted).message);
}

}  // namespace hone
