// Jail: the clone, and the child's steps until the program starts.
#include "sandbox/jail.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <iterator>
#include <sstream>

#include "sandbox/private_root.hpp"
#include "sandbox/supervisor.hpp"

namespace hone {
namespace {

constexpr char kWorkFolder[] = "/build";

/// The child's side of the pipes.
struct ChildEnds {
  UniqueFd output, failure, status;
};

/// The launcher as seen by the clone. *Rationale:* read before the clone, because in a user namespace without
/// a mapping every user id reads as 65534.
struct Parent {
  pid_t pid = ::getpid();
  uid_t user = ::geteuid();
  gid_t group = ::getegid();
};

Status failed(const std::string& what) { return system_error(what, errno); }

Status set_limit(__rlimit_resource what, std::int64_t value, const char* name) {
  rlimit now{};
  ::getrlimit(what, &now);
  const rlim_t wanted = std::min(static_cast<rlim_t>(value), now.rlim_max);
  // CPU: SIGXCPU at the limit, SIGKILL a second later.
  const rlim_t hard = what == RLIMIT_CPU ? std::min(wanted + 1, now.rlim_max) : wanted;
  const rlimit limit{wanted, hard};
  if (::setrlimit(what, &limit) != 0) return failed(std::string("limit ") + name);
  return {};
}

Status set_limits(const JailPlan& plan) {
  const ProcessLimits& limits = plan.request->limits;
  // Not 0. Rationale: 0 prevents core files, but a core_pattern that names a program would still receive the
  // memory of every crash. For 1 the kernel writes neither.
  HONE_TRY(set_limit(RLIMIT_CORE, 1, "core files"));
  if (limits.cpu_seconds > 0) {
    const auto seconds = static_cast<std::int64_t>(std::ceil(limits.cpu_seconds));
    HONE_TRY(set_limit(RLIMIT_CPU, seconds, "cpu time"));
  }
  if (plan.request->jail == Jail::kJudge) return {};
  HONE_TRY(set_limit(RLIMIT_NOFILE, 1024, "open files"));
  HONE_TRY(set_limit(RLIMIT_FSIZE, limits.file_bytes, "file size"));
  HONE_TRY(set_limit(RLIMIT_MSGQUEUE, 0, "message queues"));
  if (limits.processes > 0) {
    const int own = limits.processes + (plan.request->jail == Jail::kBuilder ? 1 : 0);
    HONE_TRY(set_limit(RLIMIT_NPROC, own + plan.processes_of_others, "processes"));
  }
#ifndef HONE_SANITIZED
  // Twice the limit, so that polling sees the process above its limit before an allocation fails.
  if (plan.limit_data) HONE_TRY(set_limit(RLIMIT_DATA, 2 * limits.memory_bytes, "memory"));
#endif
  return {};
}

/// stdin is empty, stdout and stderr are the pipe, and the request's descriptors follow. All others are
/// closed at exec.
Status arrange_descriptors(const JailPlan& plan, ChildEnds& ends) {
  // Above the numbers that the program's descriptors will have.
  const int out_of_the_way = 3 + static_cast<int>(plan.fds.size());
  for (UniqueFd* end : {&ends.output, &ends.failure, &ends.status}) {
    if (!*end) continue;
    const int moved = ::fcntl(end->get(), F_DUPFD_CLOEXEC, out_of_the_way);
    if (moved < 0) return failed("duplicate a descriptor");
    end->reset(moved);
  }
  std::vector<int> moved;
  for (const UniqueFd& fd : plan.fds) {
    moved.push_back(::fcntl(fd.get(), F_DUPFD_CLOEXEC, out_of_the_way));
    if (moved.back() < 0) return failed("duplicate a descriptor");
  }
  const int empty = ::open("/dev/null", O_RDONLY);
  if (empty < 0) return failed("open /dev/null");
  if (::dup2(empty, 0) < 0 || ::dup2(ends.output.get(), 1) < 0 ||
      ::dup2(ends.output.get(), 2) < 0) {
    return failed("arrange standard descriptors");
  }
  int next = 3;
  for (const int fd : moved) {
    if (::dup2(fd, next++) < 0) return failed("arrange descriptors");
  }
  constexpr unsigned kCloseOnExec = 4;  // CLOSE_RANGE_CLOEXEC
  if (::syscall(SYS_close_range, next, ~0u, kCloseOnExec) != 0) {
    for (int fd = next; fd < 1024; ++fd) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  }
  return {};
}

Status see_devices(const JailPlan& plan, PrivateRoot& root) {
  const std::vector<std::string> folders = driver_folders(*plan.device);
  HONE_ASSIGN(const std::vector<std::string> nodes, device_nodes(plan.device->nodes));
  root.readable.insert(root.readable.end(), folders.begin(), folders.end());
  const std::vector<std::string>& hidden = plan.request->hidden_nodes;
  std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(root.devices),
               [&](const std::string& node) {
                 return std::find(hidden.begin(), hidden.end(), node) == hidden.end();
               });
  root.whole_proc = true;
  return {};
}

Status enter_root(const JailPlan& plan) {
  const SpawnRequest& request = *plan.request;
  PrivateRoot root;
  root.pid_namespace = plan.pid_namespace;
  if (request.jail == Jail::kBuilder) {
    root.readable = toolchain_folders();
    root.readable.insert(root.readable.end(), request.readable.begin(), request.readable.end());
    root.devices = {"/dev/null", "/dev/zero", "/dev/urandom"};
    root.writable_bytes = 4 * request.limits.file_bytes;
    if (request.device) HONE_TRY(see_devices(plan, root));
  } else {
    root.readable = library_folders();
    root.readable.push_back(plan.plugins);
    root.readable.insert(root.readable.end(), request.readable.begin(), request.readable.end());
    if (request.device) HONE_TRY(see_devices(plan, root));
    if (!request.readable.empty()) {  // for drivers and interpreters
      for (const char* node : {"/dev/null", "/dev/zero", "/dev/urandom"})
        root.devices.emplace_back(node);
    }
    root.writable_bytes = request.scratch_bytes;
    root.executable = false;
  }
  if (has_work_folder(request)) root.writable = kWorkFolder;
  root.owner = plan.change_user ? plan.user : ::geteuid();
  if (::access(plan.libraries.c_str(), R_OK) == 0) root.readable.push_back(plan.libraries);
  root.readable.push_back(request.program.string());
  return enter_private_root(root);
}

/// The working folder: the process' own one, or "/".
Status enter_folder(const JailPlan& plan) {
  std::string folder = "/";
  if (has_work_folder(*plan.request)) folder = plan.private_root ? kWorkFolder : plan.work_folder;
  if (::chdir(folder.c_str()) != 0) return failed("enter " + folder);
  return {};
}

Status drop_privileges(const JailPlan& plan) {
  for (int capability = 0; capability <= 63; ++capability) {
    ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);  // EPERM without privileges: nothing to drop
  }
  if (plan.change_user) {
    if (::syscall(SYS_setgroups, 0, nullptr) != 0) return failed("drop groups");
    if (::syscall(SYS_setresgid, plan.user, plan.user, plan.user) != 0) return failed("set group");
    if (::syscall(SYS_setresuid, plan.user, plan.user, plan.user) != 0) return failed("set user");
  }
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  if (::syscall(SYS_capset, &header, none) != 0) return failed("drop capabilities");
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return failed("no_new_privs");
  return {};
}

Status pin(const std::vector<int>& cpus) {
  if (cpus.empty()) return {};
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) {
    if (cpu < 0 || cpu >= CPU_SETSIZE) return invalid_argument("cpu " + std::to_string(cpu));
    CPU_SET(static_cast<std::size_t>(cpu), &set);
  }
  if (::sched_setaffinity(0, sizeof set, &set) != 0) return failed("pin to cpus");
  return {};
}

void reset_signals() {
  for (int signal = 1; signal < 32; ++signal) ::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

Status set_up(const JailPlan& plan, ChildEnds& ends, const Parent& parent, bool in_cgroup) {
  ::setsid();
  reset_signals();
  ::umask(022);  // the jail's user must be able to enter the folders of the private root
  if (plan.user_namespace) HONE_TRY(map_own_user(parent.user, parent.group));
  if (plan.cgroup != nullptr) HONE_TRY(plan.cgroup->enter(in_cgroup));
  if (plan.request->jail != Jail::kJudge) {
    (void)write_kernel_file("/proc/self/oom_score_adj",
                            "1000");  // if memory runs out, the kernel kills jails before the host
  }
  HONE_TRY(pin(plan.request->cpus));
  HONE_TRY(arrange_descriptors(plan, ends));
  if (plan.private_root) HONE_TRY(enter_root(plan));
  ::umask(077);
  HONE_TRY(set_limits(plan));
  if (plan.request->jail != Jail::kJudge) HONE_TRY(drop_privileges(plan));
  return enter_folder(plan);
}

std::vector<std::string> environment(const JailPlan& plan) {
  std::vector<std::string> all = {"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"};
  if (has_work_folder(*plan.request)) {
    all.push_back("TMPDIR=" + (plan.private_root ? kWorkFolder : plan.work_folder));
  }
#ifdef HONE_SANITIZED
  // LeakSanitizer cannot run under the filter. And a signal must end the process directly, not through ASan's
  // handler.
  const std::string options =
      "detect_leaks=0:handle_segv=0:handle_abort=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0";
  all.push_back("ASAN_OPTIONS=" + options);
  all.push_back("TSAN_OPTIONS=" + options);
#endif
  return all;
}

/// Replaces what exec would have done: closes all descriptors after the request's, and restores who may
/// attach a debugger.
[[noreturn]] void become_image(const JailPlan& plan, std::vector<char*>& argv,
                               std::vector<char*>& envp) {
  const unsigned next = 3 + static_cast<unsigned>(plan.fds.size());
  if (::syscall(SYS_close_range, next, ~0u, 0) != 0) {
    for (int fd = static_cast<int>(next); fd < 1024; ++fd) ::close(fd);
  }
  ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  ::_exit(plan.image(static_cast<int>(argv.size()) - 1, argv.data(), envp.data()));
}

Status execute(const JailPlan& plan) {
  const SpawnRequest& request = *plan.request;
  std::vector<std::string> arguments = {request.program.string()};
  arguments.insert(arguments.end(), request.arguments.begin(), request.arguments.end());
  std::vector<std::string> variables = environment(plan);
  std::vector<char*> argv, envp;
  for (std::string& each : arguments) argv.push_back(each.data());
  for (std::string& each : variables) envp.push_back(each.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  if (plan.image != nullptr) become_image(plan, argv, envp);
  ::execve(request.program.c_str(), argv.data(), envp.data());
  return failed("start " + request.program.string());
}

[[noreturn]] void report(const ChildEnds& ends, const Error& error) {
  const std::string& message = error.message;
  (void)!::write(ends.failure.get(), message.data(), message.size());
  ::_exit(127);
}

[[noreturn]] void run_child(const JailPlan& plan, ChildEnds& ends, const Parent& parent,
                            bool in_cgroup) {
  if (Status done = set_up(plan, ends, parent, in_cgroup); !done) report(ends, done.error());
  const bool supervised = plan.request->jail == Jail::kBuilder;
  // A supervisor without a pid namespace cleans up on SIGTERM. All other processes are killed.
  const bool cleans_up = supervised && !plan.pid_namespace;
  ::prctl(PR_SET_PDEATHSIG, cleans_up ? SIGTERM : SIGKILL, 0, 0, 0);
  if (!plan.pid_namespace && ::getppid() != parent.pid) ::_exit(127);
  if (supervised) {
    const Result<bool> in_child = fork_supervised(ends.status.get(), plan.pid_namespace);
    if (!in_child) report(ends, in_child.error());
  }
  report(ends, execute(plan).error());
}

Status make_pipe(UniqueFd* reading, UniqueFd* writing) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return failed("pipe");
  reading->reset(ends[0]);
  writing->reset(ends[1]);
  if (::fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) return failed("pipe");
  return {};
}

}  // namespace

bool has_work_folder(const SpawnRequest& request) {
  return request.jail == Jail::kBuilder || request.scratch_bytes > 0;
}

Result<JailStart> start_jail(const JailPlan& plan) {
  JailStart start;
  ChildEnds ends;
  HONE_TRY(make_pipe(&start.output, &ends.output));
  HONE_TRY(make_pipe(&start.failure, &ends.failure));
  if (plan.request->jail == Jail::kBuilder) HONE_TRY(make_pipe(&start.status, &ends.status));
  unsigned long long flags = 0;
  if (plan.user_namespace) flags |= CLONE_NEWUSER;
  if (plan.private_root) flags |= CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;
  if (plan.pid_namespace) flags |= CLONE_NEWPID;
  const Parent parent;
  bool in_cgroup = false;
  start.pid = fork_with(flags, plan.cgroup == nullptr ? -1 : plan.cgroup->v2_fd(), &in_cgroup);
  if (start.pid == 0) run_child(plan, ends, parent, in_cgroup);
  if (start.pid < 0) return system_error("clone", errno);
  start.pidfd.reset(static_cast<int>(::syscall(SYS_pidfd_open, start.pid, 0)));
  if (!start.pidfd) {
    const int error_number = errno;
    ::kill(start.pid, SIGKILL);
    ::waitpid(start.pid, nullptr, 0);
    return system_error("pidfd_open", error_number);
  }
  return start;
}

}  // namespace hone
