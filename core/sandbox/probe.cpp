// Tries each sandbox feature in a child process, and notes why a feature is missing.
#include "sandbox/probe.hpp"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <string_view>

#include "base/clock.hpp"
#include "base/unique_fd.hpp"
#include "sandbox/cgroup.hpp"
#include "sandbox/freezer.hpp"
#include "sandbox/landlock.hpp"
#include "sandbox/private_root.hpp"
#include "sandbox/root_capabilities.hpp"
#include "sandbox/trial.hpp"

namespace hone {
namespace {

constexpr uid_t kSomeUser = 61000;

Status errno_status(bool good, const char* what) {
  if (good) return {};
  return system_error(what, errno);
}

Status try_seccomp() {
  sock_filter allow{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
  const sock_fprog program{1, &allow};
  HONE_TRY(errno_status(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no_new_privs"));
  return errno_status(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, "filter");
}

Status try_pidfd() {
  const UniqueFd self(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  return errno_status(static_cast<bool>(self), "pidfd_open");
}

Status try_user_change() {
  return errno_status(::syscall(SYS_setresgid, kSomeUser, kSomeUser, kSomeUser) == 0 &&
                          ::syscall(SYS_setresuid, kSomeUser, kSomeUser, kSomeUser) == 0,
                      "setresuid");
}

/// In a user namespace, as a process without root would make it: it maps only its own user.
Status make_user_namespace() {
  if (::geteuid() == 0) HONE_TRY(try_user_change());
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  HONE_TRY(errno_status(::unshare(CLONE_NEWUSER) == 0, "unshare"));
  return map_own_user(user, group);
}

/// Without root, the namespaces below are tried inside a user namespace.
Status unshare_privileged(int flags, const char* what) {
  if (::geteuid() != 0) HONE_TRY(make_user_namespace());
  return errno_status(::unshare(flags) == 0, what);
}

Status try_private_root() {
  HONE_TRY(unshare_privileged(CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS, "unshare"));
  PrivateRoot root;
  root.readable = library_folders();
  root.writable = "/build";
  root.writable_bytes = 1 << 20;
  root.owner = ::geteuid();
  HONE_TRY(enter_private_root(root));
  if (::access("/etc/passwd", F_OK) == 0) return internal_error("the old root can still be seen");
  if (::access("/usr", W_OK) == 0) return internal_error("the private root can be written to");
  return {};
}

Status try_pid_namespace() {
  HONE_TRY(unshare_privileged(CLONE_NEWPID, "unshare"));
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(::getpid() == 1 ? 0 : 1);
  int status = 1;
  return errno_status(pid > 0 && ::waitpid(pid, &status, 0) == pid && status == 0, "fork");
}

/// A child that sleeps until this object is destroyed. When the constructor returns, the child has changed its user and
/// allowed Yama to trace it.
class Sleeper {
 public:
  explicit Sleeper(bool other_user) {
    int ends[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
    ours_.reset(ends[0]);
    UniqueFd theirs(ends[1]);
    pid_ = ::fork();
    char byte = 0;
    if (pid_ != 0) {
      theirs.reset();
      (void)!::read(ours_.get(), &byte, 1);
      return;
    }
    ours_.reset();
    if (other_user) (void)try_user_change();
    ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    (void)!::write(theirs.get(), &byte, 1);
    (void)!::read(theirs.get(), &byte, 1);  // root without CAP_KILL could not end it in another way
    ::_exit(0);
  }
  ~Sleeper() {
    ours_.reset();
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, __WALL);
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  UniqueFd ours_;
};

/// Tries all operations of root with slot users: change to one, give it a file, signal its processes.
Status try_slot_users() {
  HONE_TRY(try_in_child(try_user_change));
  const UniqueFd file(memfd_create("hone-probe", MFD_CLOEXEC));
  HONE_TRY(errno_status(::fchown(file.get(), kSomeUser, kSomeUser) == 0, "chown"));
  const Sleeper other(true);
  return errno_status(other.pid() > 0 && ::kill(other.pid(), 0) == 0, "signal another user");
}

Status try_ptrace(bool other_user) {
  const Sleeper sibling(other_user);
  return try_in_child([&]() -> Status {
    const long seized = ::ptrace(PTRACE_SEIZE, sibling.pid(), nullptr, nullptr);
    return errno_status(seized == 0, "seize a sibling");
  });
}

Status try_freeze(const CgroupRoots& roots) {
  CgroupRoots only_v2 = roots;
  only_v2.v1_memory.clear();
  only_v2.v1_pids.clear();
  HONE_ASSIGN(const auto group, Cgroup::make(only_v2, std::to_string(::getpid()) + "-probe", 0, 0));
  Status frozen = try_in_child([&]() -> Status {
    const Sleeper sleeper(false);
    const std::string pid = std::to_string(sleeper.pid());
    HONE_TRY(write_kernel_file(
        roots.v2 + "/hone-" + std::to_string(::getppid()) + "-probe/cgroup.procs", pid));
    HONE_ASSIGN(const UniqueFd freeze, group->open_freeze());
    HONE_ASSIGN(const UniqueFd events, group->open_events());
    HONE_ASSIGN(const auto freezer, Freezer::with_cgroup(freeze.get(), events.get()));
    HONE_TRY(freezer->freeze(1));
    return freezer->thaw();
  });
  group->kill_all();
  const double deadline = monotonic_s() + 1;
  while (group->populated() && monotonic_s() < deadline) ::sched_yield();
  return frozen;
}

}  // namespace

Capabilities probe_machine() {
  Capabilities found;
  using Rights = std::initializer_list<std::string_view>;  // capabilities that root needs
  const auto note = [&](const char* what, const Status& result, Rights rights = {}) {
    if (!result) {
      found.notes.push_back(std::string(what) + ": " + result.error().message +
                            missing_capabilities(rights));
    }
    return result.ok();
  };
  const auto attempt = [&](const char* what, const std::function<Status()>& body,
                           Rights rights = {}) { return note(what, try_in_child(body), rights); };
  utsname names{};
  ::uname(&names);
  found.kernel = names.release;
  found.root = ::geteuid() == 0;
  int why = 0;
  found.landlock_abi = landlock_abi(&why);
  if (found.landlock_abi == 0) {
    found.notes.push_back(system_error("landlock: missing in this kernel", why).message);
  } else if (found.landlock_abi < 6) {
    found.notes.push_back("landlock: ABI " + std::to_string(found.landlock_abi) +
                          "; from 6 on it also restricts signals and abstract sockets");
  }
  found.seccomp = attempt("seccomp", try_seccomp);
  found.user_namespace = attempt("user namespace without root", make_user_namespace);
  found.mount_namespace = attempt("private root", try_private_root, {"SYS_ADMIN"});
  found.pid_namespace = attempt("pid namespace", try_pid_namespace, {"SYS_ADMIN"});
  found.network_namespace =
      attempt("network namespace", [] { return unshare_privileged(CLONE_NEWNET, "unshare"); },
              {"SYS_ADMIN"});
  if (found.root) {
    found.slot_users = note("slot users", try_slot_users(), {"SETUID", "SETGID", "KILL", "CHOWN"});
  } else {
    found.notes.push_back("slot users: only root can give each slot its own user");
  }
  found.pidfd = note("pidfd", try_pidfd());
  found.ptrace = note("ptrace", try_ptrace(false));
  found.ptrace_users = found.ptrace && found.slot_users &&
                       note("freezing other users by ptrace", try_ptrace(true), {"SYS_PTRACE"});
  const CgroupRoots roots = find_cgroups(&found.notes);
  found.cgroup_freeze = !roots.v2.empty() && note("cgroup.freeze", try_freeze(roots));
  found.cgroup_memory = roots.v2_memory || !roots.v1_memory.empty();
  found.cgroup_pids = roots.v2_pids || !roots.v1_pids.empty();
  found.cgroup_v2_root = roots.v2;
  found.cgroup_v1_memory_root = roots.v1_memory;
  found.cgroup_v1_pids_root = roots.v1_pids;
  return found;
}

}  // namespace hone
