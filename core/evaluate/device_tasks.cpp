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

Result<std::unique_ptr<Process>> Device::install(const std::shared_ptr<const Task>& task,
                                                 const std::string& role, const std::string& key) {
  const bool module = is_module(mode_of(*task, options_));
  HONE_ASSIGN(Runner runner, module ? take(Kind::kTrustedModule) : start_candidate());
  return install(task, role, key, std::move(runner), "");
}

Result<std::unique_ptr<Process>> Device::install(const std::shared_ptr<const Task>& task,
                                                 const std::string& role, const std::string& key,
                                                 Runner runner, const std::string& from) {
  if (const Status installed = install_in(runner, task, role, key, from); !installed) {
    let_go(std::move(runner.process));
    return installed.error();
  }
  return std::move(runner.process);
}

Status Device::install_in(const Runner& runner, const std::shared_ptr<const Task>& task,
                          const std::string& role, const std::string& key,
                          const std::string& from) {
  HONE_ASSIGN(const PlannedSource source, role == "reference" ? planned_reference(*task, options_)
                                                              : planned_baseline(*task, options_));
  HONE_ASSIGN(const auto built, builds_.build(source.build));
  if (!built->ok) {
    const std::string message =
        "the " + role + " of task " + task->id + " does not build: " + built->diagnostics;
    return built->failure == BuildFailure::kRefused ? failed_precondition(message)
                                                    : internal_error(message);
  }
  set_work("install the " + role + " of");
  Value ask = request("install", *task, random_u64() >> 1, options_.measure);
  ask.set("role", role).set("key", key + "/" + role).set("reference", key + "/reference");
  ask.set("pid", runner.process->pid()).set("module", is_module(source.mode));
  ask.set("from", from).set("plan", plan_to_value(source.plan));
  if (source.exact) ask.set("exact", plan_to_value(*source.exact));
  for (const auto& [form, plan] : source.further) ask.set(form, plan_to_value(plan));
  const bool timed = role == "baseline";
  const bool found = timed || task->tolerance.from_reference;
  const auto known = found ? shared_.calibrations.find(key + "/" + role) : std::nullopt;
  if (known) ask.set("calibration", *known);
  HONE_ASSIGN(const Value answer,
              answer_to(send(ask, from.empty() ? &runner : nullptr, &built->artifact), {}));
  if (kind_of(answer) == "installed") {
    if (const Value* note = answer.find("note"); note != nullptr && *note != Value("")) {
      const Value* warns = answer.find("note_warns");
      const bool is_warning = warns != nullptr && *warns == Value(true);
      log(is_warning ? LogLevel::kWarning : LogLevel::kInfo, "evaluate",
          "task " + task->id + ": " + note->as_string());
    }
    const Value* calibration = answer.find("calibration");
    if (found && (options_.device_code || !timed) && !known && calibration != nullptr)
      shared_.calibrations.keep(key + "/" + role, *calibration);
    return {};
  }
  HONE_ASSIGN(const Judgement judgement, judgement_of(answer));
  const bool done = judgement.ending == Ending::kDone;  // and the answers were wrong
  const bool memory = judgement.ending == Ending::kOutOfMemory;
  std::string message = "the " + role + " of task " + task->id + " cannot be used: " +
                        (done ? judgement.verdict.reason
                              : std::string(ending_name(judgement.ending)) +
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
  for (const char* role : {"/reference", "/baseline"}) {
    static_cast<void>(send(Value::map({{"verb", "drop"}, {"key", key + role}}), nullptr, nullptr));
  }
}

/// Nothing of it is left where it fails.
Status Device::install_both(const std::shared_ptr<const Task>& task, const std::string& key,
                            Installed& made) {
  const Status both = [&]() -> Status {
    HONE_ASSIGN(made.reference, install(task, "reference", key));
    // What is not measured has no baseline.
    if (is_timed(mode_of(*task, options_))) {
      HONE_ASSIGN(made.baseline, install(task, "baseline", key));
    }
    return {};
  }();
  if (both) return {};
  if (!owes_) send_drop(key);
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
  const auto again = [&](std::unique_ptr<Process> process, const std::string& role) {
    return install(task, role, key, Runner{std::move(process), {}, false}, old_key + "/" + role);
  };
  const Status over = [&]() -> Status {
    HONE_ASSIGN(made.reference, again(std::move(old.reference), "reference"));
    HONE_ASSIGN(made.baseline, again(std::move(old.baseline), "baseline"));
    return {};
  }();
  if (over) {
    log_debug("evaluate", "task " + task->id + " takes over another's processes");
    return {};
  }
  if (!owes_) {
    send_drop(old_key);
    send_drop(key);
  }
  for (std::unique_ptr<Process>* left : {&made.reference, &old.baseline}) let_go(std::move(*left));
  if (owes_) return over.error();
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
  if (owes_ || !of_task) stop_judge();
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
  made.module = is_module(mode_of(*task, options_));
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
  if (mode_of(task, options_) != Mode::kModuleOnDevice) return "";
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
  Value ask = request("admit", *task, seed, options_.measure);
  ask.set("reference", key + "/reference");
  const Result<Value> answer = answer_to(send(ask, nullptr, nullptr), {});
  if (!answer) stop_judge();  // as in run_once()
  drop_all_tasks();
  rest();  // others judge the task's golden answers next
  if (!answer) return answer.error();
  if (const Value* report = answer->find("report")) return *report;
  HONE_ASSIGN(const Judgement judgement, judgement_of(*answer));
  return internal_error("admission of " + task->id + ": " + judgement.message);
}

}  // namespace hone
