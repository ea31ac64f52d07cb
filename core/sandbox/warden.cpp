// Warden: poll over the host's socket, the processes and their pipes.
#include "sandbox/warden.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/clock.hpp"
#include "base/crypto.hpp"
#include "base/files.hpp"
#include "sandbox/level.hpp"
#include "sandbox/supervisor.hpp"

namespace hone {
namespace {

/// A socket whose name stands for the users from `first` on; empty if another launcher has them.
UniqueFd reserved_users(uid_t first) {
  UniqueFd lock(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = "hone-users-" + std::to_string(first);
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (::bind(lock.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0) return {};
  return lock;
}

}  // namespace

Warden::Warden(UniqueFd socket, const LauncherOptions& options, const CgroupRoots& roots,
               const Capabilities& capabilities, Image image)
    : socket_(std::move(socket)),
      options_(options),
      image_(image),
      roots_(roots),
      ready_(decide(options, capabilities)),
      name_(std::to_string(::getpid()) + "-" + random_hex(3) + "-"),
      slot_taken_(static_cast<std::size_t>(std::max(options.slots, 1))) {
  if (ready_.freezer != "cgroup") {  // continue as on a machine without cgroup v2
    roots_.v2.clear();
    roots_.v2_memory = roots_.v2_pids = false;
  }
  std::error_code ignored;
  if (options_.workdir.empty()) {
    options_.workdir = std::filesystem::temp_directory_path(ignored);
  }
  if (ready_.refused.empty() && uses_slot_user(ready_, options_, Jail::kBuilder)) {
    if (Status chosen = choose_users(); !chosen) {
      ready_.refused_code = chosen.error().code;
      ready_.refused = chosen.error().message;
    }
  }
}

/// When the host has ended: kills all processes. Those that do not die within ten seconds are left to the
/// kernel.
Warden::~Warden() {
  for (auto& [id, each] : jailed_) end(*each);
  const double deadline = monotonic_s() + 10;
  while (!jailed_.empty() && monotonic_s() < deadline) poll_once(2);
}

/// Two launchers on one machine must not share users, or one could kill the other's jails. A launcher
/// reserves blocks of users, each by binding an abstract socket with its name; the kernel releases them with
/// the launcher. The users of all slots follow each other.
Status Warden::choose_users() {
  constexpr uid_t kBlock = 256;
  constexpr uid_t kBlocks = 64;
  const auto needed = static_cast<uid_t>((slot_taken_.size() + kBlock - 1) / kBlock);
  for (uid_t block = 0; block < kBlocks; ++block) {
    UniqueFd lock = reserved_users(options_.first_uid + block * kBlock);
    if (!lock) {
      users_locks_.clear();
      continue;
    }
    users_locks_.push_back(std::move(lock));
    if (users_locks_.size() < needed) continue;
    first_uid_ = options_.first_uid + (block + 1 - needed) * kBlock;
    return {};
  }
  users_locks_.clear();
  return resource_exhausted("users from " + std::to_string(options_.first_uid) +
                            ": found fewer than " + std::to_string(needed * kBlock) +
                            " in a row that no other launcher has");
}

bool Warden::announce() {
  PacketWriter packet;
  packet.number(static_cast<std::int64_t>(MessageKind::kReady));
  put(packet, ready_);
  send(packet, {});
  return ready_.refused.empty();
}

void Warden::run(const volatile int* stop) {
  while (!host_gone_ && *stop == 0) poll_once(timeout_ms());
}

int Warden::timeout_ms() const {
  int timeout = 1000;
  for (const auto& [id, each] : jailed_) {
    if (each->phase == Phase::kDraining) return 1;
    if (each->polls_memory || each->polls_folder) timeout = 3;
  }
  return timeout;
}

void Warden::poll_once(int timeout_ms) {
  std::vector<pollfd> polled;
  const auto watch = [&](int fd, short events) { polled.push_back({fd, events, 0}); };
  const short writing = outgoing_.empty() ? 0 : POLLOUT;
  watch(host_gone_ ? -1 : socket_.get(), static_cast<short>(POLLIN | writing));
  std::vector<std::int64_t> order;
  for (const auto& [id, each] : jailed_) {
    order.push_back(id);
    watch(each->phase == Phase::kDraining ? -1 : each->start.pidfd.get(), POLLIN);
    watch(each->start.output.get(), POLLIN);
    watch(each->phase == Phase::kStarting ? each->start.failure.get() : -1, POLLIN);
  }
  if (::poll(polled.data(), polled.size(), timeout_ms) < 0) return;
  for (std::size_t i = 0; i < order.size(); ++i) {
    Jailed& jailed = *jailed_.at(order[i]);
    if (polled[3 * i + 2].revents != 0 && !jailed.output.drain(jailed.start.output.get())) {
      jailed.start.output.reset();
    }
    if (polled[3 * i + 3].revents != 0) hear_failure(jailed);
  }
  reap();
  tick();
  if (polled[0].revents != 0 && !host_gone_) serve_host();
  flush();
}

void Warden::tick() {
  for (auto next = jailed_.begin(); next != jailed_.end();) {
    const auto current = next++;
    Jailed& jailed = *current->second;
    if (jailed.polls_memory && jailed.phase != Phase::kDraining) poll_memory(jailed);
    if (jailed.polls_folder && jailed.phase != Phase::kDraining) poll_folder(jailed);
    if (jailed.phase == Phase::kDraining && drain(jailed)) {
      finish(jailed);
      jailed_.erase(current);
    }
  }
}

void Warden::serve_host() {
  Result<Packet> packet = receive_packet(socket_.get());
  if (!packet) return;  // EAGAIN
  if (packet->end) {
    host_gone_ = true;
    return;
  }
  PacketReader reader(packet->bytes);
  const auto kind = static_cast<MessageKind>(reader.number());
  const std::int64_t id = reader.number();
  if (kind == MessageKind::kSpawn) {
    SpawnRequest request = get_request(reader);
    if (reader.done()) spawn(id, std::move(request), std::move(packet->fds));
  } else if (kind == MessageKind::kKill) {
    if (const auto found = jailed_.find(id); found != jailed_.end()) end(*found->second);
  }
}

void Warden::refuse(std::int64_t id, const Error& error) {
  PacketWriter packet;
  packet.number(static_cast<std::int64_t>(MessageKind::kFailed)).number(id);
  packet.number(static_cast<int>(error.code)).text(error.message);
  send(packet, {});
}

void Warden::announce_start(Jailed& jailed) {
  jailed.phase = Phase::kRunning;
  PacketWriter packet;
  packet.number(static_cast<std::int64_t>(MessageKind::kStarted)).number(jailed.id);
  packet.number(jailed.start.pid);
  std::vector<int> fds = {jailed.start.pidfd.get()};
  UniqueFd freeze, events;
  if (jailed.cgroup != nullptr && jailed.cgroup->v2_fd() >= 0 && ready_.freezer == "cgroup") {
    Result<UniqueFd> opened_freeze = jailed.cgroup->open_freeze();
    Result<UniqueFd> opened_events = jailed.cgroup->open_events();
    if (opened_freeze && opened_events) {
      freeze = std::move(*opened_freeze);
      events = std::move(*opened_events);
      fds.push_back(freeze.get());
      fds.push_back(events.get());
    }
  }
  send(packet, std::move(fds));
}

void Warden::hear_failure(Jailed& jailed) {
  char block[1024];
  const ssize_t n = ::read(jailed.start.failure.get(), block, sizeof block);
  if (n < 0) return;
  if (n > 0) {
    jailed.failure.append(block, static_cast<std::size_t>(n));
    return;
  }
  jailed.start.failure.reset();
  if (jailed.failure.empty()) {
    announce_start(jailed);
    return;
  }
  fail_start(jailed);
}

void Warden::fail_start(Jailed& jailed) {
  jailed.phase = Phase::kRunning;
  jailed.failed = true;
  end(jailed);
  refuse(jailed.id, unavailable(jailed.request.label + ": " + jailed.failure));
}

void Warden::end(Jailed& jailed) {
  jailed.ending = true;
  if (jailed.phase != Phase::kDraining) {
    ::syscall(SYS_pidfd_send_signal, jailed.start.pidfd.get(), SIGKILL, nullptr, 0);
  }
  if (jailed.cgroup != nullptr) jailed.cgroup->kill_all();
}

void Warden::reap() {
  for (;;) {
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) return;
    int status = 0;
    rusage usage{};
    ::wait4(info.si_pid, &status, 0, &usage);
    for (auto& [id, each] : jailed_) {
      if (each->start.pid == info.si_pid && each->phase != Phase::kDraining) {
        record_exit(*each, status, usage);
      }
    }
  }
}

void Warden::record_exit(Jailed& jailed, int status, const rusage& usage) {
  if (jailed.phase == Phase::kStarting) {
    // Reads the message until the pipe closes. It may close late, if another child that has not reached its
    // exec has a copy.
    for (int i = 0; i < 4 && jailed.phase == Phase::kStarting; ++i) hear_failure(jailed);
    if (jailed.phase == Phase::kStarting && jailed.failure.empty()) announce_start(jailed);
    if (jailed.phase == Phase::kStarting) fail_start(jailed);
  }
  jailed.phase = Phase::kDraining;
  int of_builder =
      0;  // status from the supervisor; if the supervisor was killed, its own status is used
  if (jailed.start.status &&
      ::read(jailed.start.status.get(), &of_builder, sizeof of_builder) == sizeof of_builder) {
    status = of_builder;
  }
  ProcessExit& exit = jailed.exit;
  exit.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  exit.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  exit.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  exit.peak_bytes = std::max<std::int64_t>(exit.peak_bytes, usage.ru_maxrss * 1024);
}

void Warden::send(PacketWriter& packet, std::vector<int> fds, OutputTail output) {
  std::vector<UniqueFd> kept;
  for (const int fd : fds) kept.emplace_back(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
  outgoing_.push_back({packet.take(), std::move(output), std::move(kept)});
  flush();
}

void Warden::flush() {
  while (!outgoing_.empty() && !host_gone_) {
    const Outgoing& next = outgoing_.front();
    std::vector<int> fds;
    for (const UniqueFd& fd : next.fds) fds.push_back(fd.get());
    const Status sent = send_packet(socket_.get(), next.bytes, fds, next.output.bytes());
    if (!sent && sent.error().code == Code::kResourceExhausted) return;
    if (!sent) host_gone_ = true;
    outgoing_.pop_front();
  }
}

}  // namespace hone
