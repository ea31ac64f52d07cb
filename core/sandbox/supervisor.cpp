// Supervisor: the subreaper or pid 1 of a jail, and functions that end many processes at once.
#include "sandbox/supervisor.hpp"

#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <vector>

#include "sandbox/cgroup.hpp"
#include "sandbox/process_watch.hpp"

namespace hone {
namespace {

constexpr __u64 kCloneIntoCgroup = 0x200000000;  // linux/sched.h, since 5.7
constexpr int kGetTidAddress = 40;               // PR_GET_TID_ADDRESS

std::vector<pid_t> children_in(const std::string& file) {
  std::vector<pid_t> children;
  std::istringstream pids(read_kernel_file(file));
  for (pid_t pid = 0; pids >> pid;) children.push_back(pid);
  return children;
}

void add_descendants(pid_t of, std::vector<pid_t>& to) {
  to.push_back(of);
  for (const pid_t child : children_of(of)) add_descendants(child, to);
}

/// Permanently removes a process' right to fork. False if it had none.
bool forbid_forks(pid_t pid) {
  const rlimit none{0, 0};
  rlimit before{};
  if (::prlimit(pid, RLIMIT_NPROC, &none, &before) != 0) return errno == ESRCH;
  ::kill(pid,
         SIGSTOP);  // stopped, so that it cannot exit and free a process number for another fork
  return before.rlim_max != 0;
}

/// Repeats until no child is left. When a child dies, its children become ours, because we are a subreaper.
void end_descendants() {
  for (;;) {
    end_children({});
    for (;;) {
      const pid_t pid = ::waitpid(-1, nullptr, WNOHANG);
      if (pid < 0 && errno == ECHILD) return;
      if (pid <= 0) break;
    }
    ::usleep(200);
  }
}

bool has_processes(uid_t user) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string path = entry.path().string();
    if (path.find_first_not_of("0123456789", 6) != std::string::npos) continue;
    const std::string status = read_kernel_file(path + "/status");
    const std::size_t line = status.find("\nUid:\t");
    if (line == std::string::npos || status.find("\nState:\tZ") != std::string::npos) continue;
    if (std::strtoul(status.c_str() + line + 6, nullptr, 10) == user) return true;
  }
  return false;
}

void on_launcher_death(int /*signal*/) {
  end_descendants();
  ::_exit(127);
}

[[noreturn]] void supervise(pid_t builder, int status_fd, bool owns_pid_namespace) {
  // The jail's descriptors must close when the builder ends, not when the supervisor does.
  ::dup2(status_fd, 0);
  ::syscall(SYS_close_range, 1, ~0u, 0);
  int status = 0;
  for (;;) {
    const pid_t pid = ::waitpid(-1, &status, 0);
    if (pid == builder) break;
    if (pid < 0 && errno != EINTR) break;
  }
  (void)!::write(0, &status, sizeof status);
  if (!owns_pid_namespace) end_descendants();  // otherwise the end of pid 1 ends them
  ::_exit(0);
}

}  // namespace

pid_t fork_with(unsigned long long flags, int cgroup_fd, bool* in_cgroup) {
  // Rationale: a child that continues without an exec uses its thread number in locks.
  pid_t* number = nullptr;
  if (::prctl(kGetTidAddress, &number, 0, 0, 0) == 0 && number != nullptr)
    flags |= CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
  if (cgroup_fd >= 0) {
    clone_args arguments{};
    arguments.flags = flags | kCloneIntoCgroup;
    arguments.exit_signal = SIGCHLD;
    arguments.child_tid = reinterpret_cast<std::uintptr_t>(number);
    arguments.cgroup = static_cast<__u64>(cgroup_fd);
    *in_cgroup = true;
    const long pid = ::syscall(SYS_clone3, &arguments, sizeof arguments);
    if (pid >= 0) return static_cast<pid_t>(pid);
    *in_cgroup =
        false;  // clone3 is hidden by many container filters, and CLONE_INTO_CGROUP needs 5.7
  }
  return static_cast<pid_t>(
      ::syscall(SYS_clone, flags | SIGCHLD, nullptr, nullptr, number, nullptr));
}

Result<bool> fork_supervised(int status_fd, bool owns_pid_namespace) {
  if (!owns_pid_namespace) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    ::signal(SIGTERM, on_launcher_death);
  }
  const pid_t pid = fork_with(0);
  if (pid < 0) return system_error("fork the builder", errno);
  if (pid > 0) supervise(pid, status_fd, owns_pid_namespace);
  ::signal(SIGTERM, SIG_DFL);
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  return true;
}

bool end_children(const std::vector<pid_t>& known) {
  constexpr int kPassesMax = 64;
  std::vector<pid_t> ending;
  for (int pass = 0; pass < kPassesMax; ++pass) {
    ending.clear();
    for (const pid_t child : children_in("/proc/thread-self/children")) {
      if (std::find(known.begin(), known.end(), child) == known.end()) {
        add_descendants(child, ending);
      }
    }
    if (std::count_if(ending.begin(), ending.end(), forbid_forks) == 0) break;
  }
  for (const pid_t pid : ending) ::kill(pid, SIGKILL);
  return !ending.empty();
}

bool kill_all_of_user(uid_t user) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (::syscall(SYS_setresgid, user, user, user) == 0 &&
        ::syscall(SYS_setresuid, user, user, user) == 0) {
      ::kill(-1, SIGKILL);  // ignore the result: it is 0 even if every signal was refused
    }
    ::_exit(0);
  }
  while (pid > 0 && ::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return pid < 0 || has_processes(user);
}

}  // namespace hone
