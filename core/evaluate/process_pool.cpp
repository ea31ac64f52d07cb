// Starts, opens and ends processes of submissions and of the dataset's code.
#include "evaluate/process_pool.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "channel/control.hpp"
#include "channel/stream.hpp"
#include "evaluate/device_counting.hpp"
#include "evaluate/interpreter.hpp"
#include "evaluate/judge_start.hpp"

namespace hone {
namespace {

// Upper bounds for the launcher. The judge enforces the task's own limit.
constexpr std::int64_t kCandidateMemoryMax = std::int64_t{64} << 30;
constexpr std::int64_t kModuleMemoryMax = std::int64_t{24} << 30;  // torch and the driver take some
constexpr std::int64_t kModuleFileBytesMax = std::int64_t{256} << 20;
constexpr std::int64_t kModuleScratchBytes = std::int64_t{64} << 20;  // on the processor
constexpr int kModuleProcessesMax = 512;  // threads of libraries among them

/// Whether it is readable, or becomes so in this time.
bool wait_readable(int fd, double seconds) {
  pollfd polled{fd, POLLIN, 0};
  return poll(&polled, 1, static_cast<int>(seconds * 1e3)) > 0;
}

/// Whether the process reports that it could not open its device. The report is not consumed, so that the
/// judge can read it.
bool has_failed(int socket) {
  Loaded said{};
  const ssize_t size = ::recv(socket, &said, sizeof said, MSG_PEEK | MSG_DONTWAIT);
  return size == static_cast<ssize_t>(sizeof said) && said.code != HONE_OK;
}

}  // namespace

bool has_ended(const Process& process, int wait_ms) {
  pollfd polled{process.pidfd(), POLLIN, 0};
  return poll(&polled, 1, wait_ms) > 0;
}

ProcessPool::ProcessPool(Launcher& launcher, Zygotes& zygotes, const EvaluatorOptions& options,
                         DeviceSpec spec, std::string lane)
    : launcher_(launcher),
      zygotes_(zygotes),
      options_(options),
      spec_(std::move(spec)),
      number_(std::to_string(spec_.index)),
      cores_of_modules_(cores_without_other_devices(options.devices, spec_.index)),
      lane_(std::move(lane)) {}

/// Rationale: a submission can start a program without an environment variable that hides devices.
void ProcessPool::see_only_own(std::vector<std::string> other_nodes) {
  if (launcher_.level() < IsolationLevel::kPrivate) return;
  number_ = "0";
  if (other_nodes == other_nodes_) return;
  other_nodes_ = std::move(other_nodes);
  end_player();  // it still sees the nodes that it saw at its start
}

Result<ProcessPool::Standby> ProcessPool::start_candidate() {
  HONE_ASSIGN(auto ends, packet_pair());
  SpawnRequest spawn;
  spawn.jail = Jail::kCandidate;
  spawn.label = "candidate";
  spawn.program = options_.libexec / "hone-candidate";
  spawn.arguments = {options_.backend_library.string(), number_};
  spawn.device = options_.device_code;
  spawn.hidden_nodes = other_nodes_;
  if (options_.device_code) spawn.readable = {options_.backend_library.parent_path().string()};
  spawn.fds = {ends.second.get()};
  spawn.cpus = {spec_.cores.front()};
  spawn.limits.memory_bytes = kCandidateMemoryMax;
  HONE_ASSIGN(auto process, launcher_.spawn(spawn));
  return Standby{std::move(process), std::move(ends.first)};
}

Result<ProcessPool::Standby> ProcessPool::spawn_interpreter(
    SpawnRequest spawn, const char* script, const std::vector<std::string>& arguments,
    Zygotes::Use use) {
  HONE_TRY(expect_interpreter(options_));
  HONE_ASSIGN(auto ends, packet_pair());
  run_interpreter(options_, script, use, arguments, spawn);
  spawn.fds = {ends.second.get()};
  HONE_ASSIGN(auto process, zygotes_.spawn(spawn, use));
  return Standby{std::move(process), std::move(ends.first)};
}

Result<ProcessPool::Standby> ProcessPool::start_interpreter(Zygotes::Use use) {
  SpawnRequest spawn;
  spawn.jail = Jail::kCandidate;
  spawn.label = "module";
  spawn.limits.memory_bytes = kCandidateMemoryMax;
  if (options_.device_code) {
    if (launcher_.level() < IsolationLevel::kPrivate) {
      return failed_precondition("modules on a device need isolation 'private', found '" +
                                 std::string(isolation_name(launcher_.level())) +
                                 "'; hone doctor says what is missing");
    }
    // Triton runs compilers, so the process gets a builder's jail, with the device in it.
    spawn.jail = Jail::kBuilder;
    spawn.device = true;
    spawn.hidden_nodes = other_nodes_;
    spawn.limits.file_bytes = kModuleFileBytesMax;
    spawn.limits.processes = kModuleProcessesMax;
    spawn.limits.memory_bytes = kModuleMemoryMax;
    spawn.cpus = cores_of_modules_;
    spawn.readable = {options_.backend_library.parent_path().string()};
  } else {
    // Not on a device, where compilers and threads of the driver need cores other than the measured one.
    spawn.cpus = {spec_.cores.front()};
    spawn.scratch_bytes = spawn.limits.file_bytes = kModuleScratchBytes;
  }
  return spawn_interpreter(std::move(spawn), "device/run_module.py",
                           {options_.backend_library.string(), number_,
                            cores_text({spec_.cores.front(), spec_.judge_cpu})},
                           use);
}

/// Rationale: it is forked from the zygote of trusted processes, and its host code is hone's alone, so it is a candidate.
Result<ProcessPool::Standby> ProcessPool::start_replayer() {
  SpawnRequest spawn;
  spawn.jail = Jail::kCandidate;
  spawn.label = "replayer";
  spawn.device = true;
  spawn.hidden_nodes = other_nodes_;
  spawn.readable = {options_.backend_library.parent_path().string()};
  spawn.cpus = {spec_.cores.front()};
  spawn.limits.memory_bytes = kCandidateMemoryMax;
  return spawn_interpreter(std::move(spawn), "device/replay_module.py",
                           {options_.backend_library.string(), number_}, Zygotes::Use::kTrusted);
}

Result<ProcessPool::Standby> ProcessPool::start(Kind kind) {
  if (kind == Kind::kCandidate) return start_candidate();
  if (kind == Kind::kReplayer) return start_replayer();
  if (kind == Kind::kPlayer) return start_counting();
  return start_interpreter(kind == Kind::kModule ? Zygotes::Use::kSubmission
                                                 : Zygotes::Use::kTrusted);
}

Result<ProcessPool::Standby> ProcessPool::take(Kind kind) {
  std::list<Standby>& ready = standby_[kind];
  while (!ready.empty()) {
    Standby runner = std::move(ready.front());
    ready.pop_front();
    // Rationale: the last submission may have held all device memory while this process opened the device.
    // The next submission must not be blamed for that.
    if (!has_ended(*runner.process, 0) && !has_failed(runner.socket.get())) return runner;
  }
  return start(kind);
}

ProcessPool::Stock ProcessPool::stock_of(Kind kind) const {
  if (kind == Kind::kPlayer) return {0, 1};    // make_player_ready() chooses the time
  if (kind == Kind::kReplayer) return {0, 0};  // started when one is needed, and kept by its owner
  if (!opens_when_asked(kind)) return {1, kind == Kind::kTrustedModule ? 0u : 1u};
  // A task that is not installed yet needs two: for its reference and its baseline.
  return kind == Kind::kTrustedModule ? Stock{2, kTrustedModulesAhead} : Stock{2, kModulesAhead};
}

void ProcessPool::refill(Kind kind) {
  std::list<Standby>& ready = standby_[kind];
  const auto [least, made] = stock_of(kind);
  while (ready.size() < made) {
    auto fresh = start(kind);
    if (!fresh) return log_warning("evaluate", "standby process: " + fresh.error().message);
    ready.push_back(std::move(*fresh));
    // Rationale: creating a context disturbs measurements, so it must be finished before the next one. An
    // interpreter creates its context only when asked.
    if (options_.device_code && kind == Kind::kCandidate)
      wait_readable(ready.back().socket.get(), kOpenSeconds);
  }
}

void ProcessPool::end(std::unique_ptr<Process> process) {
  if (process == nullptr) return;
  process->kill();
  if (options_.device_code) ended_.push_back(std::move(process));
}

void ProcessPool::end(std::vector<std::unique_ptr<Process>> processes) {
  for (std::unique_ptr<Process>& process : processes) end(std::move(process));
}

/// Rationale: a driver can keep an ended process for minutes. Then the lane continues without waiting.
void ProcessPool::await_ended() {
  const double ends_s = monotonic_s() + kGoneSeconds;
  for (const auto& process : ended_) {
    if (process->wait(std::max(0.0, ends_s - monotonic_s()))) continue;
    log_warning("evaluate", lane_ + ": process " + std::to_string(process->pid()) + " (" +
                                process->label() + ") has not ended within " +
                                std::to_string(static_cast<int>(kGoneSeconds)) +
                                " s; it may still hold memory of the device");
  }
  ended_.clear();
}

std::vector<std::unique_ptr<Process>> ProcessPool::hand_over_ended() {
  return std::exchange(ended_, {});
}

void ProcessPool::take_over_ended(std::vector<std::unique_ptr<Process>> ended) {
  std::move(ended.begin(), ended.end(), std::back_inserter(ended_));
}

void ProcessPool::end_standby() {
  for (auto& [kind, waiting] : standby_) {
    for (Standby& one : waiting) end(std::move(one.process));
    waiting.clear();
  }
  count_waiting();
}

Result<ProcessPool::Standby> ProcessPool::start_counting() {
  player_library_ = file_version(options_.counters.path);
  HONE_ASSIGN(Player made, start_player(launcher_, options_, spec_, other_nodes_, "count",
                                        options_.counters.path));
  ++players_started_;
  return Standby{std::move(made.process), std::move(made.socket), true, false};
}

/// Ends players that have ended by themselves, or whose library was replaced after they started.
void ProcessPool::drop_useless_players() {
  standby_[Kind::kPlayer].remove_if([this](Standby& player) {
    const bool ended = has_ended(*player.process, 0);
    if (ended) note_player(fault_of_player(*player.process, "it ended while it waited"));
    if (!ended && player_library_ == file_version(options_.counters.path)) return false;
    end(std::move(player.process));
    return true;
  });
  count_waiting();
}

void ProcessPool::note_player(const Status& works) {
  if (!std::exchange(player_failed_, !works) && !works) {
    log_warning("evaluate", lane_ + ": a process that reads hardware counters failed: " +
                                works.error().message +
                                "; hone starts the next one when a profile needs it; run hone "
                                "doctor, which checks the device and names the CUPTI library");
  }
}

bool ProcessPool::can_count() const {
  return launcher_.level() >= IsolationLevel::kPrivate && expect_counters(options_.counters).ok();
}

void ProcessPool::make_player_ready(bool wanted) {
  if (!can_count()) return;
  drop_useless_players();
  if (wanted || !player_failed_) refill(Kind::kPlayer);
  count_waiting();
}

/// Replaces a process that could not open the device. Rationale: a submission may have held the device's memory at that time.
Result<Player> ProcessPool::take_player() {
  wait_until_open();
  drop_useless_players();
  std::list<Standby>& ready = standby_[Kind::kPlayer];
  if (!ready.empty()) {
    Standby first = std::move(ready.front());
    ready.pop_front();
    count_waiting();
    ++players_used_;
    return Player{std::move(first.process), std::move(first.socket), true, false};
  }
  HONE_ASSIGN(Standby made, start_counting());
  return Player{std::move(made.process), std::move(made.socket), false, false};
}

void ProcessPool::return_player(Player player) {
  standby_[Kind::kPlayer].push_back(
      {std::move(player.process), std::move(player.socket), true, false});
  count_waiting();
}

void ProcessPool::end_player() {
  for (Standby& one : standby_[Kind::kPlayer]) end(std::move(one.process));
  standby_[Kind::kPlayer].clear();
  count_waiting();
}

void ProcessPool::start_missing(bool opens_at_once) {
  for (auto& [kind, ready] : standby_) {
    if ((opens_at_once || opens_when_asked(kind)) && ready.size() < stock_of(kind).least)
      refill(kind);
  }
}

/// An interpreter takes long to open a device, so it is asked ahead of its use.
bool ProcessPool::opens_when_asked(Kind kind) const {
  return options_.device_code && (kind == Kind::kModule || kind == Kind::kTrustedModule);
}

void ProcessPool::open_ahead() {
  for (auto& [kind, runners] : standby_) {
    if (!opens_when_asked(kind)) continue;
    for (Standby& runner : runners) {
      if (!runner.is_opening)
        runner.is_opening = ::send(runner.socket.get(), kOpenAhead.data(), kOpenAhead.size(),
                                   MSG_DONTWAIT | MSG_NOSIGNAL) > 0;
    }
  }
}

/// Waits for the process to open its device. False: it took too long, or it is a player that cannot serve. A process of another
/// kind may have failed instead: take() finds that.
bool ProcessPool::is_open(Kind kind, Standby& one, double seconds) {
  if (!one.is_opening || one.is_ready) return true;
  if (!wait_readable(one.socket.get(), seconds)) {
    const std::string late = "it did not open the device within " +
                             std::to_string(static_cast<int>(kOpenSeconds)) + " s, so hone ends it";
    if (kind == Kind::kPlayer) {
      note_player(unavailable(late));
    } else {
      log_warning("evaluate", lane_ + ": process " + std::to_string(one.process->pid()) + " (" +
                                  one.process->label() + "): " + late);
    }
    return false;
  }
  if (kind != Kind::kPlayer) return true;
  const Status greeted = take_greeting(*one.process, one.socket.get());
  note_player(greeted);
  one.is_ready = greeted.ok();
  return one.is_ready;
}

void ProcessPool::wait_until_open() {
  const double ends_s = monotonic_s() + kOpenSeconds;
  for (auto& [kind, runners] : standby_) {
    runners.remove_if([&, of = kind](Standby& runner) {
      if (is_open(of, runner, std::max(0.0, ends_s - monotonic_s()))) return false;
      end(std::move(runner.process));
      return true;
    });
  }
  count_waiting();
}

PlayerCounts ProcessPool::player_counts() const {
  MutexLock lock(waiting_mutex_);
  const auto waiting = std::count_if(waiting_.begin(), waiting_.end(), [](const UniqueFd& one) {
    return !wait_readable(one.get(), 0);
  });
  return {players_started_, players_used_, static_cast<std::size_t>(waiting)};
}

void ProcessPool::count_waiting() {
  std::vector<UniqueFd> waiting;
  for (const Standby& one : standby_[Kind::kPlayer])
    waiting.emplace_back(::fcntl(one.process->pidfd(), F_DUPFD_CLOEXEC, 0));
  MutexLock lock(waiting_mutex_);
  waiting_.swap(waiting);
}

}  // namespace hone
