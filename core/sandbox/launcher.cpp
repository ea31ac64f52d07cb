// The host's side of the launcher: starts hone-launcher, sends requests, and has a thread that distributes
// replies.
#include "sandbox/launcher.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <thread>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "base/code_number.hpp"
#include "base/files.hpp"
#include "base/mutex.hpp"
#include "sandbox/messages.hpp"

namespace hone {
namespace {

/// Time limit of the launcher's answer to a spawn, which normally takes milliseconds. Rationale: a launcher
/// that hangs would block all lanes without an error.
constexpr std::chrono::seconds kSpawnPatience{30};

/// State of one process, shared by its handle and the reader thread. Guarded by Connection::mutex.
struct ProcessState {
  std::int64_t id = 0;
  std::string label;
  pid_t pid = -1;
  UniqueFd pidfd, freeze, events;
  bool answered = false;
  std::optional<Error> failure;
  std::optional<ProcessExit> exit;
};

/// The socket and the table of processes. A process handle may outlive the launcher object, so both share
/// this.
struct Connection {
  Mutex mutex;
  Condition changed;
  UniqueFd socket;
  std::map<std::int64_t, std::shared_ptr<ProcessState>> processes HONE_GUARDED_BY(mutex);
  std::int64_t next_id HONE_GUARDED_BY(mutex) = 1;
  std::atomic<bool> alive{true};

  void send_kill(std::int64_t id) {
    if (!alive) return;
    PacketWriter packet;
    packet.number(static_cast<std::int64_t>(MessageKind::kKill)).number(id);
    (void)send_packet(socket.get(), packet.take(),
                      {});  // the launcher kills its processes when it ends
  }
};

Error launcher_gone() { return unavailable("the launcher process has ended"); }

class ProcessHandle final : public Process {
 public:
  ProcessHandle(std::shared_ptr<Connection> connection, std::shared_ptr<ProcessState> state)
      : connection_(std::move(connection)), state_(std::move(state)) {}
  ~ProcessHandle() override {
    bool ended = false;
    {
      MutexLock lock(connection_->mutex);
      ended = state_->exit.has_value();
      connection_->processes.erase(state_->id);
    }
    if (!ended) connection_->send_kill(state_->id);
  }
  pid_t pid() const override { return state_->pid; }
  const std::string& label() const override { return state_->label; }
  int pidfd() const override { return state_->pidfd.get(); }
  int freeze_fd() const override { return state_->freeze.get(); }
  int frozen_events_fd() const override { return state_->events.get(); }
  void kill() override { connection_->send_kill(state_->id); }

  Result<ProcessExit> wait(double timeout_s) override {
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::duration<double>(timeout_s);
    MutexLock lock(connection_->mutex);
    while (!state_->exit) {
      if (!connection_->alive) return launcher_gone();
      if (connection_->changed.wait_until(connection_->mutex, deadline) ==
              std::cv_status::timeout &&
          !state_->exit) {
        return Error{Code::kDeadlineExceeded,
                     state_->label + ": still running after " + std::to_string(timeout_s) + " s"};
      }
    }
    return *state_->exit;
  }

 private:
  const std::shared_ptr<Connection> connection_;
  const std::shared_ptr<ProcessState> state_;
};

/// Handles one message from the launcher. A process without an entry has lost its handle, and is ignored.
void receive_one(Connection& connection, Packet packet) {
  PacketReader reader(packet.bytes);
  const auto kind = static_cast<MessageKind>(reader.number());
  const std::int64_t id = reader.number();
  MutexLock lock(connection.mutex);
  const auto found = connection.processes.find(id);
  if (found == connection.processes.end()) return;
  ProcessState& state = *found->second;
  if (kind == MessageKind::kStarted) {
    state.pid = static_cast<pid_t>(reader.number());
    if (!packet.fds.empty()) state.pidfd = std::move(packet.fds[0]);
    if (packet.fds.size() == 3) {
      state.freeze = std::move(packet.fds[1]);
      state.events = std::move(packet.fds[2]);
    }
    state.answered = true;
  } else if (kind == MessageKind::kFailed) {
    const Code code = error_code_of(reader.number());
    state.failure = Error{code, reader.text()};
    state.answered = true;
  } else if (kind == MessageKind::kExited) {
    state.exit = get_exit(reader);
  }
  connection.changed.notify_all();
}

void receive_all(const std::shared_ptr<Connection>& connection) {
  for (;;) {
    Result<Packet> packet = receive_packet(connection->socket.get());
    if (!packet || packet->end) break;
    receive_one(*connection, std::move(*packet));
  }
  MutexLock lock(connection->mutex);
  connection->alive = false;
  connection->changed.notify_all();
}

class LauncherClient final : public Launcher {
 public:
  LauncherClient(std::shared_ptr<Connection> connection, LauncherOptions options, pid_t pid,
                 Ready ready)
      : connection_(std::move(connection)),
        options_(std::move(options)),
        pid_(pid),
        ready_(std::move(ready)),
        reader_([shared = connection_] { receive_all(shared); }) {}

  /// Closing this side makes the launcher kill all processes and exit, within ten seconds.
  ~LauncherClient() override {
    ::shutdown(connection_->socket.get(), SHUT_RDWR);
    reader_.join();
    end_launcher(pid_);
  }

  static void end_launcher(pid_t pid) {
    constexpr int kPatienceMs = 12'000;
    const UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    pollfd ended{pidfd.get(), POLLIN, 0};
    if (!pidfd || ::poll(&ended, 1, kPatienceMs) <= 0) ::kill(pid, SIGKILL);
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  Result<std::unique_ptr<Process>> spawn(const SpawnRequest& request) override {
    HONE_ASSERT(request.program.is_absolute());
    auto state = std::make_shared<ProcessState>();
    state->label = request.label;
    {
      MutexLock lock(connection_->mutex);
      state->id = connection_->next_id++;
      connection_->processes.emplace(state->id, state);
    }
    // From here on, every return path drops the handle, which kills the process.
    auto process = std::make_unique<ProcessHandle>(connection_, state);
    PacketWriter packet;
    packet.number(static_cast<std::int64_t>(MessageKind::kSpawn)).number(state->id);
    put(packet, request);
    HONE_TRY(send_packet(connection_->socket.get(), packet.take(), request.fds));
    const auto deadline = std::chrono::steady_clock::now() + kSpawnPatience;
    MutexLock lock(connection_->mutex);
    while (!state->answered && connection_->alive) {
      if (connection_->changed.wait_until(connection_->mutex, deadline) ==
              std::cv_status::timeout &&
          !state->answered) {
        return Error{Code::kDeadlineExceeded, request.label +
                                                  ": the launcher did not start it in " +
                                                  std::to_string(kSpawnPatience.count()) + " s"};
      }
    }
    if (!state->answered) return launcher_gone();
    if (state->failure) return *state->failure;
    return std::unique_ptr<Process>(std::move(process));
  }

  const LauncherOptions& options() const override { return options_; }
  const Capabilities& capabilities() const override { return ready_.capabilities; }
  IsolationLevel level() const override { return ready_.level; }
  std::string freezer() const override { return ready_.freezer; }
  bool alive() const override { return connection_->alive; }

 private:
  const std::shared_ptr<Connection> connection_;
  const LauncherOptions options_;
  const pid_t pid_;
  const Ready ready_;
  std::thread reader_;
};

/// Waits for the launcher's first answer, until the deadline or a cancellation.
Status await_answer(int socket, const LauncherOptions& options) {
  const std::string name = options.image.empty() ? "hone-launcher" : options.image[0];
  const double deadline = monotonic_s() + options.image_seconds;
  for (;;) {
    const int left_ms = static_cast<int>(1e3 * std::max(0.0, deadline - monotonic_s()));
    pollfd awaited[] = {{socket, POLLIN, 0}, {options.given_up, POLLIN, 0}};
    const int count = ::poll(awaited, 2, left_ms);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("wait for " + name, errno);
    if (awaited[1].revents != 0) return Error{Code::kCancelled, name + " was cancelled"};
    if (count > 0) return {};
    return Error{Code::kDeadlineExceeded, name + " was not ready within " +
                                              std::to_string(std::lround(options.image_seconds)) +
                                              " s"};
  }
}

/// Starts a launcher with its end of the socket as descriptor 3 and an empty environment.
Result<pid_t> start_program(std::vector<std::string> command, int socket) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, socket, 3);
#ifdef HONE_SANITIZED
  std::string options = "ASAN_OPTIONS=detect_leaks=0";
  char* environment[] = {options.data(), nullptr};
#else
  char* environment[] = {nullptr};
#endif
  std::vector<char*> arguments;
  for (std::string& each : command) arguments.push_back(each.data());
  arguments.push_back(nullptr);
  pid_t pid = -1;
  const int error =
      ::posix_spawn(&pid, arguments[0], &actions, nullptr, arguments.data(), environment);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return system_error("start " + command[0], error);
  return pid;
}

/// libexec/hone-launcher below install_root(), or below its parent for a program in a folder of the
/// build.
std::filesystem::path launcher_program() {
  const std::filesystem::path root = install_root();
  std::error_code ignored;
  for (const auto& folder : {root, root.parent_path()}) {
    if (std::filesystem::exists(folder / "libexec/hone-launcher", ignored)) {
      return folder / "libexec/hone-launcher";
    }
  }
  return root / "libexec/hone-launcher";
}

}  // namespace

Result<std::unique_ptr<Launcher>> Launcher::start(const LauncherOptions& given) {
  LauncherOptions options = given;
  HONE_TRY(check_device_files(options.device));
  const std::filesystem::path program = launcher_program();
  options.root = program.parent_path().parent_path();
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return system_error("launcher socket", errno);
  }
  auto connection = std::make_shared<Connection>();
  connection->socket.reset(ends[0]);
  UniqueFd theirs(ends[1]);
  std::vector<std::string> command = {program.string()};
  command.insert(command.end(), options.image.begin(), options.image.end());
  HONE_ASSIGN(const pid_t pid, start_program(std::move(command), theirs.get()));
  theirs.reset();
  PacketWriter packet;
  packet.number(static_cast<std::int64_t>(MessageKind::kConfigure));
  put(packet, options);
  Status sent = send_packet(connection->socket.get(), packet.take(), {});
  if (Status answers = await_answer(connection->socket.get(), options); !answers) {
    ::kill(pid, SIGKILL);  // it has not started any process yet
    LauncherClient::end_launcher(pid);
    return answers.error();
  }
  Result<Packet> answer = receive_packet(connection->socket.get());
  Ready ready;
  if (!sent || !answer || answer->end) {
    ready.refused_code = Code::kUnavailable;
    ready.refused =
        (options.image.empty() ? "hone-launcher" : options.image[0]) + " ended before it was ready";
  } else {
    PacketReader reader(answer->bytes);
    (void)reader.number();  // kReady is the only possible first answer
    ready = get_ready(reader);
    if (!reader.done())
      ready.refused = "hone-launcher has another version than hone; install both together";
  }
  if (!ready.refused.empty()) {
    connection->socket.reset();
    LauncherClient::end_launcher(pid);
    const Code code = ready.refused_code == Code::kOk ? Code::kInternal : ready.refused_code;
    return Error{code, ready.refused};
  }
  return std::unique_ptr<Launcher>(std::make_unique<LauncherClient>(
      std::move(connection), std::move(options), pid, std::move(ready)));
}

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  if (name != nullptr) return std::string("SIG") + name;
  return "signal " + std::to_string(signal);
}

}  // namespace hone
