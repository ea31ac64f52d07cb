// Starting what a device needs: its judge, the judge's kernels, and candidates ahead of time.
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "channel/control.hpp"
#include "evaluate/device.hpp"
#include "evaluate/interpreter.hpp"
#include "judge/known_answer.hpp"
#include "judge/workbench.hpp"

namespace hone {
namespace {

// The task's own limit is the judge's to keep.
constexpr std::int64_t kCandidateMemoryMax = std::int64_t{64} << 30;
constexpr std::int64_t kModuleMemoryMax = std::int64_t{24} << 30;  // torch and the driver take some
constexpr std::int64_t kKeptModuleMemoryMax = std::int64_t{6} << 30;  // of each of many
constexpr std::int64_t kModuleFileBytesMax = std::int64_t{256} << 20;
constexpr std::int64_t kModuleScratchBytes = std::int64_t{64} << 20;  // on the processor
constexpr int kModuleProcessesMax = 512;  // threads of libraries among them

constexpr double kWordsSeconds = 0.5;  // from a judge's failure to its end, if it ends

std::string cores_text(const std::vector<int>& cores) {
  std::string text;
  for (const int core : cores) text += (text.empty() ? "" : ",") + std::to_string(core);
  return text;
}

/// Whether it is, or becomes so in this time.
bool wait_readable(int fd, double seconds) {
  pollfd polled{fd, POLLIN, 0};
  return poll(&polled, 1, static_cast<int>(seconds * 1e3)) > 0;
}

/// Whether what it has to say is that it could not open its device. The report stays there for the judge.
bool has_failed(int socket) {
  Loaded said{};
  const ssize_t size = ::recv(socket, &said, sizeof said, MSG_PEEK | MSG_DONTWAIT);
  return size == static_cast<ssize_t>(sizeof said) && said.code != HONE_OK;
}

}  // namespace

Status Device::ensure_judge() {
  if (judge_.has_ended()) {
    log_warning("evaluate", turn_.lane() + ": its judge has ended and is started anew");
    stop_judge();
    await_last();
  }
  if (judge_.is_started()) return {};
  log_debug("evaluate", "device " + std::to_string(spec_.index) + ": a judge starts");
  SpawnRequest spawn;
  spawn.jail = Jail::kJudge;
  spawn.label = "judge " + std::to_string(spec_.index);
  spawn.program = options_.libexec / "hone-judge";
  spawn.arguments = {options_.backend_library.string(), std::to_string(spec_.index),
                     std::to_string(spec_.judge_cpu), cores_text(spec_.cores)};
  HONE_TRY(judge_.start(launcher_, std::move(spawn)));
  if (Status equipped = equip(); !equipped) {
    // A judge that could not open its device has said why on its way out.
    const std::string words = judge_.last_output(kWordsSeconds);
    stop_judge();
    return unavailable("device " + std::to_string(spec_.index) + ": " +
                       (words.empty() ? equipped.error().message : words));
  }
  return {};
}

/// The judge hears what it needs besides its device, and says what the device is.
Status Device::equip() {
  HONE_ASSIGN(facts_, judge_.open());
  const Value* memory = facts_.find("memory_bytes");
  if (options_.device_code && memory != nullptr && memory->is_int() && memory->as_int() > 0) {
    shared_.memory_bytes = static_cast<std::uint64_t>(memory->as_int());
    shared_.ledger.set_bytes(this->memory().pool());
  }
  if (options_.device_code) {
    HONE_TRY(builds_.use_device(facts_));
    HONE_ASSIGN(const UniqueFd harness,
                built_of_ours("harness.cu", harness_source(), harness_kernels()));
    HONE_ASSIGN(const UniqueFd known,
                built_of_ours("known_answer.cu", known_answer_source(), known_answer_kernels()));
    HONE_TRY(judge_.equip(harness.get(), known.get()));
  }
  return {};
}

/// A memory file of the judge's own device code.
Result<UniqueFd> Device::built_of_ours(const char* name, std::string_view source,
                                       std::vector<std::string> kernels) {
  BuildRequest build;
  build.language = options_.backend;
  build.name = name;
  build.text = std::string(source);
  build.entries = std::move(kernels);
  HONE_ASSIGN(const auto built, builds_.build(build));
  if (!built->ok)
    return internal_error(std::string(name) + " does not build: " + built->diagnostics);
  return memory_file(name, built->artifact);
}

std::string Device::name() const {
  const Value* name = facts_.find("name");
  const Value* driver = facts_.find("driver");
  if (name == nullptr || driver == nullptr) return "unknown device";
  return name->as_string() + (driver->as_string().empty() ? "" : ", driver " + driver->as_string());
}

double Device::bytes_per_second_max(const Task& task) const {
  const Value* most = facts_.find("bytes_per_second_max");
  const Value* units = facts_.find("multiprocessors");
  if (most == nullptr || !most->is_number() || most->as_double() <= 0) return 1e300;
  if (options_.device_code || units == nullptr || !units->is_int()) return most->as_double();
  return most->as_double() / static_cast<double>(units->as_int()) * task.threads;
}

Result<Device::Runner> Device::start_candidate() {
  HONE_ASSIGN(auto ends, packet_pair());
  SpawnRequest spawn;
  spawn.jail = Jail::kCandidate;
  spawn.label = "candidate";
  spawn.program = options_.libexec / "hone-candidate";
  spawn.arguments = {options_.backend_library.string(), std::to_string(spec_.index)};
  spawn.device = options_.device_code;
  if (options_.device_code) spawn.readable = {options_.backend_library.parent_path().string()};
  spawn.fds = {ends.second.get()};
  spawn.cpus = {spec_.cores.front()};
  spawn.limits.memory_bytes = kCandidateMemoryMax;
  HONE_ASSIGN(auto process, launcher_.spawn(spawn));
  return Runner{std::move(process), std::move(ends.first)};
}

Result<Device::Runner> Device::start_interpreter(WarmInterpreters::Use use) {
  HONE_TRY(expect_interpreter(options_));
  HONE_ASSIGN(auto ends, packet_pair());
  SpawnRequest spawn;
  spawn.jail = Jail::kCandidate;
  spawn.label = "module";
  spawn.limits.memory_bytes = kCandidateMemoryMax;
  if (options_.device_code) {
    if (launcher_.level() < IsolationLevel::kPrivate) {
      return failed_precondition("modules beside a device need isolation 'private', found '" +
                                 std::string(isolation_name(launcher_.level())) +
                                 "'; hone doctor says what is missing");
    }
    // Triton runs compilers: the jail is the one that has them, with the device in it.
    spawn.jail = Jail::kBuilder;
    spawn.device = true;
    spawn.limits.file_bytes = kModuleFileBytesMax;
    spawn.limits.processes = kModuleProcessesMax;
    const bool kept =
        use == WarmInterpreters::Use::kSubmission && options_.module_isolation != "fresh";
    spawn.limits.memory_bytes = kept ? kKeptModuleMemoryMax : kModuleMemoryMax;
    spawn.readable = {options_.backend_library.parent_path().string()};
  } else {
    // Beside a device compilers and threads of the driver's are a module's, too, and others wait for their
    // turn beside it: not all on the core that is measured on.
    spawn.cpus = {spec_.cores.front()};
    spawn.scratch_bytes = spawn.limits.file_bytes = kModuleScratchBytes;
  }
  run_interpreter(options_, "run_module.py",
                  {options_.backend_library.string(), std::to_string(spec_.index),
                   cores_text({spec_.cores.front(), spec_.judge_cpu})},
                  spawn);
  spawn.fds = {ends.second.get()};
  HONE_ASSIGN(auto process, interpreters_.spawn(spawn, use));
  return Runner{std::move(process), std::move(ends.first)};
}

Result<Device::Runner> Device::start(Kind kind) {
  if (kind == Kind::kCandidate) return start_candidate();
  return start_interpreter(kind == Kind::kModule ? WarmInterpreters::Use::kSubmission
                                                 : WarmInterpreters::Use::kTrusted);
}

Result<Device::Runner> Device::take(Kind kind) {
  std::list<Runner>& ready = standby_[kind];
  while (!ready.empty()) {
    Runner runner = std::move(ready.front());
    ready.pop_front();
    // Rationale: the last submission may have held all of the device's memory while this one opened it, and
    // the next is not to blame for that.
    if (!has_ended(*runner.process, 0) && !has_failed(runner.socket.get())) return runner;
  }
  return start(kind);
}

Device::Ahead Device::ahead(Kind kind) const {
  if (!opens_ahead(kind)) return {1, kind == Kind::kTrustedModule ? 0u : 1u};
  // A task that is not installed yet takes two: its reference and its baseline.
  return kind == Kind::kTrustedModule ? Ahead{2, kTrustedModulesAhead} : Ahead{2, kModulesAhead};
}

void Device::refill(Kind kind) {
  std::list<Runner>& ready = standby_[kind];
  const auto [least, made] = ahead(kind);
  while (ready.size() < made) {
    auto fresh = start(kind);
    if (!fresh) return log_warning("evaluate", "standby candidate: " + fresh.error().message);
    ready.push_back(std::move(*fresh));
    // Rationale: making a context disturbs what is measured on the device, so it has ended before the
    // next measurement begins. An interpreter makes none until it is told to.
    if (options_.device_code && kind == Kind::kCandidate)
      wait_readable(ready.back().socket.get(), kOpenSeconds);
  }
}

/// Ends it. What it held of its device others have when it is gone, and nothing is measured before that.
void Device::let_go(std::unique_ptr<Process> process) {
  if (process == nullptr) return;
  process->kill();
  if (options_.device_code) leaving_.push_back(std::move(process));
}

/// Waits for kGoneSeconds in all. Rationale: a driver that does not let go of a process keeps it for minutes, and nobody
/// can do anything about that but go on.
void Device::await_last() {
  const double ends_s = monotonic_s() + kGoneSeconds;
  for (const auto& process : leaving_) {
    if (process->wait(std::max(0.0, ends_s - monotonic_s()))) continue;
    log_warning("evaluate", turn_.lane() + ": process " + std::to_string(process->pid()) + " (" +
                                process->label() + ") has not ended within " +
                                std::to_string(static_cast<int>(kGoneSeconds)) +
                                " s; it may still hold memory of the device");
  }
  leaving_.clear();
}

/// Of those that there are too few of; `contexts`: also those that open the device at once, and do not wait to be told.
void Device::start_missing(bool contexts) {
  for (auto& [kind, ready] : standby_) {
    if ((contexts || opens_ahead(kind)) && ready.size() < ahead(kind).least) refill(kind);
  }
}

/// Rationale: a lane that has the device alone gives it up once its last process is gone, which would disturb what others
/// measure then.
void Device::make_ready() {
  task_id_.clear();
  set_work("make processes ready");
  if (turn_.is_out())
    return rest();  // the job got no turn, and other lanes may take memory back from this one
  // Contexts would take memory from a task that needs all of it.
  if (turn_.is_sharing() && !to_itself_) open_ahead();
  await_last();
  if (to_itself_) return;
  shared_.ledger.settle(lane_, held_bytes());  // now that what the submission had is free
  if (const Status shares = turn_.share(); !shares)
    return log_warning("evaluate", shares.error().message);
  start_missing(true);
  open_ahead();
}

void Device::leave_turn() {
  MutexLock lock(state_mutex_);
  shrink_to_share();
  await_last();
  wait_until_open(kOpenSeconds);
  turn_.leave();
}

void Device::rest() {
  leave_turn();
  shared_.ledger.rest(lane_, held_bytes());
}

/// Whether processes of this kind take their time to open a device, and wait to be told.
bool Device::opens_ahead(Kind kind) const {
  return options_.device_code && kind != Kind::kCandidate;
}

void Device::open_ahead() {
  for (auto& [kind, runners] : standby_) {
    if (!opens_ahead(kind)) continue;
    for (Runner& runner : runners) {
      if (!runner.told)
        runner.told = ::send(runner.socket.get(), kOpenAhead.data(), kOpenAhead.size(),
                             MSG_DONTWAIT | MSG_NOSIGNAL) > 0;
    }
  }
}

/// Returns once no context is being made any more. A process that is not open within `seconds`, all together, is ended. One
/// that has ended, or says why it could not open the device, is readable, too.
void Device::wait_until_open(double seconds) {
  const double ends_s = monotonic_s() + seconds;
  for (auto& [kind, runners] : standby_) {
    runners.remove_if([&](Runner& runner) {
      if (!runner.told || wait_readable(runner.socket.get(), std::max(0.0, ends_s - monotonic_s())))
        return false;
      log_warning("evaluate", turn_.lane() + ": process " + std::to_string(runner.process->pid()) +
                                  " (" + runner.process->label() +
                                  ") has not opened the device within " +
                                  std::to_string(static_cast<int>(seconds)) + " s and is ended");
      let_go(std::move(runner.process));
      return true;
    });
  }
}

}  // namespace hone
