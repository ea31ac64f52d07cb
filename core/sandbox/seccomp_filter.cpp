// Seccomp: the allow-list of candidates and the deny-list of compilers. The only file that includes libseccomp.
#include "sandbox/seccomp_filter.hpp"

#include <asm/prctl.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace hone {
namespace {

/// Collects rules, and keeps the first error.
class Filter {
 public:
  explicit Filter(std::uint32_t otherwise) : context_(seccomp_init(otherwise)) {
    if (context_ == nullptr) error_ = -ENOMEM;
  }
  ~Filter() { seccomp_release(context_); }
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;

  void add(std::uint32_t action, int call, std::initializer_list<scmp_arg_cmp> conditions = {}) {
    if (error_ != 0) return;
    const std::vector<scmp_arg_cmp> array(conditions);
    error_ = seccomp_rule_add_array(context_, action, call, static_cast<unsigned>(array.size()),
                                    array.data());
  }
  void allow(std::initializer_list<int> calls) {
    for (const int call : calls) add(SCMP_ACT_ALLOW, call);
  }
  void deny(std::uint32_t action, std::initializer_list<int> calls) {
    for (const int call : calls) add(action, call);
  }
  /// Also applies to threads that already exist.
  void all_threads() {
    if (error_ == 0) error_ = seccomp_attr_set(context_, SCMP_FLTATR_CTL_TSYNC, 1);
  }
  Status load() {
    // System calls of a foreign architecture (32-bit, x32) kill the process: hone's compilers never make
    // them.
    if (error_ == 0) {
      error_ = seccomp_attr_set(context_, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    }
    if (error_ == 0) error_ = seccomp_load(context_);
    if (error_ != 0) return system_error("seccomp filter", -error_);
    return {};
  }

 private:
  scmp_filter_ctx context_;
  int error_ = 0;
};

constexpr std::uint32_t kRefuse = SCMP_ACT_ERRNO(EPERM);
constexpr std::uint32_t kMissing = SCMP_ACT_ERRNO(ENOSYS);

constexpr scmp_datum_t datum(long long value) { return static_cast<scmp_datum_t>(value); }
scmp_arg_cmp equal(unsigned argument, long long value) {
  return {argument, SCMP_CMP_EQ, datum(value), 0};
}
/// For rules that refuse: also matches if any of the upper 32 bits is set.
scmp_arg_cmp differs(unsigned argument, long long value) {
  return {argument, SCMP_CMP_NE, datum(value), 0};
}
/// (argument & mask) == value
scmp_arg_cmp masked(unsigned argument, long long mask, long long value) {
  return {argument, SCMP_CMP_MASKED_EQ, datum(mask), datum(value)};
}
/// For rules that refuse. Rationale: the kernel reads only the low 32 bits of an `int` argument, but seccomp
/// compares all 64. A rule that refuses must match for any upper half. A rule that allows must not, so
/// `equal` is correct there.
scmp_arg_cmp equal_int(unsigned argument, long long value) {
  constexpr long long kLowHalf = 0xffffffff;
  return masked(argument, kLowHalf, value & kLowHalf);
}

/// The clocks of the machine and of the calling process. Higher numbers name the processor time of any other
/// process.
constexpr long long kClocksLast = 11;
scmp_arg_cmp own_clock(unsigned argument) { return {argument, SCMP_CMP_LE, datum(kClocksLast), 0}; }
constexpr std::initializer_list<int> kClockCalls = {SCMP_SYS(clock_gettime), SCMP_SYS(clock_getres),
                                                    SCMP_SYS(clock_nanosleep)};

// System calls that only an escape would use.
void deny_escapes(Filter& filter, std::uint32_t action) {
  filter.deny(action, {SCMP_SYS(ptrace), SCMP_SYS(kcmp), SCMP_SYS(mount), SCMP_SYS(umount2),
                       SCMP_SYS(setns), SCMP_SYS(unshare), SCMP_SYS(bpf), SCMP_SYS(fsopen),
                       SCMP_SYS(fsmount)});
  filter.deny(action, {SCMP_SYS(pidfd_getfd), SCMP_SYS(init_module), SCMP_SYS(kexec_load),
                       SCMP_SYS(move_mount), SCMP_SYS(open_tree), SCMP_SYS(pivot_root)});
  filter.deny(action,
              {SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev), SCMP_SYS(finit_module),
               SCMP_SYS(mount_setattr), SCMP_SYS(open_by_handle_at)});
}

void allow_memory_and_threads(Filter& filter, bool threads) {
  filter.allow({SCMP_SYS(munmap), SCMP_SYS(mprotect), SCMP_SYS(mremap), SCMP_SYS(brk),
                SCMP_SYS(mincore), SCMP_SYS(membarrier), SCMP_SYS(futex), SCMP_SYS(set_robust_list),
                SCMP_SYS(rseq), SCMP_SYS(set_tid_address), SCMP_SYS(sched_yield),
                SCMP_SYS(sched_get_priority_min), SCMP_SYS(sched_get_priority_max),
                SCMP_SYS(getcpu), SCMP_SYS(arch_prctl)});
  // Only about itself. With other process numbers these calls would reveal which processes exist, and on
  // which cores they run.
  for (const int call : {SCMP_SYS(sched_getaffinity), SCMP_SYS(sched_getparam),
                         SCMP_SYS(sched_getscheduler), SCMP_SYS(get_robust_list)}) {
    filter.add(SCMP_ACT_ALLOW, call, {equal(0, 0)});
    filter.add(SCMP_ACT_ALLOW, call, {equal(0, ::getpid())});
  }
  // Private memory, and shared mappings of given descriptors. New shared memory would not count towards a
  // limit on private memory.
  filter.add(SCMP_ACT_ALLOW, SCMP_SYS(mmap), {masked(3, MAP_TYPE, MAP_PRIVATE)});
  filter.add(SCMP_ACT_ALLOW, SCMP_SYS(mmap), {masked(3, MAP_ANONYMOUS, 0)});
  // Excluded: advice that punches holes into the arena, makes huge pages, or merges pages with those of other
  // processes.
  for (const int advice : {MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED, MADV_DONTNEED,
                           MADV_FREE, MADV_HUGEPAGE, MADV_NOHUGEPAGE, MADV_DONTDUMP, MADV_DODUMP}) {
    filter.add(SCMP_ACT_ALLOW, SCMP_SYS(madvise), {equal(2, advice)});
  }
  if (threads) {
    constexpr long long kMust = CLONE_THREAD | CLONE_VM | CLONE_SIGHAND;
    // CLONE_UNTRACED would hide a thread from the freezer that uses ptrace.
    constexpr long long kMustNot = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                   CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_VFORK |
                                   CLONE_UNTRACED | CLONE_PTRACE | CLONE_PARENT | CLONE_PIDFD |
                                   CLONE_IO;
    filter.add(SCMP_ACT_ALLOW, SCMP_SYS(clone), {masked(0, kMust | kMustNot, kMust)});
  }
  // The flags of clone3 are in memory, which a filter cannot read. The C library falls back to clone.
  filter.add(kMissing, SCMP_SYS(clone3));
}

void allow_files(Filter& filter) {
  filter.allow({SCMP_SYS(read), SCMP_SYS(write), SCMP_SYS(readv), SCMP_SYS(writev),
                SCMP_SYS(pread64), SCMP_SYS(pwrite64), SCMP_SYS(lseek), SCMP_SYS(close),
                SCMP_SYS(close_range), SCMP_SYS(fstat), SCMP_SYS(newfstatat), SCMP_SYS(dup),
                SCMP_SYS(getcwd), SCMP_SYS(poll), SCMP_SYS(ppoll), SCMP_SYS(select),
                SCMP_SYS(pselect6)});
  constexpr long long kWriting =
      O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_TMPFILE | O_PATH | O_ASYNC | O_DIRECTORY;
  filter.add(SCMP_ACT_ALLOW, SCMP_SYS(open), {masked(1, kWriting, 0)});
  filter.add(SCMP_ACT_ALLOW, SCMP_SYS(openat), {masked(2, kWriting, 0)});
  for (const int command : {F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC}) {
    filter.add(SCMP_ACT_ALLOW, SCMP_SYS(fcntl), {equal(1, command)});
  }
  filter.add(SCMP_ACT_ALLOW, SCMP_SYS(fcntl), {equal(1, F_SETFL), masked(2, O_ASYNC, 0)});
  filter.add(SCMP_ACT_ALLOW, SCMP_SYS(ioctl), {equal(1, TCGETS)});  // isatty(), by stdio
}

/// Calls with which an interpreter reads the folders that it imports from.
void allow_folders(Filter& filter) {
  constexpr long long kWriting =
      O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND | (O_TMPFILE & ~O_DIRECTORY) | O_PATH;
  filter.add(SCMP_ACT_ALLOW, SCMP_SYS(openat),
             {masked(2, kWriting | O_ASYNC | O_DIRECTORY, O_DIRECTORY)});
  filter.allow({SCMP_SYS(getdents64), SCMP_SYS(stat), SCMP_SYS(lstat), SCMP_SYS(access),
                SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(faccessat)});
}

/// Calls on files of its own folder, to which Landlock confines it. Landlock does not restrict changes of
/// modes and times, so these calls do nothing and report success. Rationale: shutil's copy functions would
/// fail on an error.
void allow_writing(Filter& filter) {
  filter.add(SCMP_ACT_ALLOW, SCMP_SYS(openat), {masked(2, O_PATH | O_ASYNC, 0)});
  filter.add(SCMP_ACT_ALLOW, SCMP_SYS(ioctl), {equal(1, FIOCLEX)});  // by Python's tempfile
  filter.allow({SCMP_SYS(mkdir), SCMP_SYS(mkdirat), SCMP_SYS(rmdir), SCMP_SYS(unlink),
                SCMP_SYS(unlinkat), SCMP_SYS(rename), SCMP_SYS(renameat), SCMP_SYS(renameat2),
                SCMP_SYS(ftruncate), SCMP_SYS(fsync), SCMP_SYS(fdatasync), SCMP_SYS(statfs)});
  filter.add(SCMP_ACT_ERRNO(ENOTSUP), SCMP_SYS(listxattr));
  filter.deny(SCMP_ACT_ERRNO(0),
              {SCMP_SYS(chmod), SCMP_SYS(fchmod), SCMP_SYS(fchmodat), SCMP_SYS(utimensat)});
}

/// Signals by which hone recognises the cause of an end: killed by the machine or by hone, over its processor
/// time or file size, a forbidden call, stopped. A submission must not send them to itself.
bool says_how_it_ended(int signal) {
  constexpr int kReserved[] = {SIGKILL, SIGSTOP, SIGTSTP, SIGTTIN,
                               SIGTTOU, SIGXCPU, SIGXFSZ, SIGSYS};
  return std::find(std::begin(kReserved), std::end(kReserved), signal) != std::end(kReserved);
}

void allow_own_process(Filter& filter) {
  filter.allow({SCMP_SYS(exit),         SCMP_SYS(exit_group),    SCMP_SYS(restart_syscall),
                SCMP_SYS(nanosleep),    SCMP_SYS(gettimeofday),  SCMP_SYS(time),
                SCMP_SYS(times),        SCMP_SYS(getrusage),     SCMP_SYS(getpid),
                SCMP_SYS(gettid),       SCMP_SYS(getppid),       SCMP_SYS(getpgrp),
                SCMP_SYS(getuid),       SCMP_SYS(geteuid),       SCMP_SYS(getgid),
                SCMP_SYS(getegid),      SCMP_SYS(rt_sigaction),  SCMP_SYS(rt_sigprocmask),
                SCMP_SYS(rt_sigreturn), SCMP_SYS(rt_sigpending), SCMP_SYS(rt_sigsuspend),
                SCMP_SYS(sigaltstack),  SCMP_SYS(pause),         SCMP_SYS(getrandom),
                SCMP_SYS(uname),        SCMP_SYS(getrlimit)});
  for (const int call : kClockCalls) filter.add(SCMP_ACT_ALLOW, call, {own_clock(0)});
  const pid_t self = ::getpid();
  for (int signal = 0; signal <= SIGRTMAX; ++signal) {
    if (says_how_it_ended(signal)) continue;
    filter.add(SCMP_ACT_ALLOW, SCMP_SYS(kill), {equal(0, self), equal(1, signal)});
    filter.add(SCMP_ACT_ALLOW, SCMP_SYS(tgkill), {equal(0, self), equal(2, signal)});
  }
  filter.add(SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), {equal(0, 0), equal(2, 0)});  // only reads
  for (const int what : {PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE, PR_GET_NO_NEW_PRIVS}) {
    filter.add(SCMP_ACT_ALLOW, SCMP_SYS(prctl), {equal(0, what)});
  }
  constexpr int kSetVma = 0x53564d41;  // the C library labels its heaps with it
  filter.add(SCMP_ACT_ALLOW, SCMP_SYS(prctl), {equal(0, kSetVma)});
}

/// At the lower levels, a compromised compiler has the same user as other processes, and Landlock does not
/// protect these. It must not slow, pin, limit, signal or watch them.
void keep_off_others(Filter& filter) {
  for (const int call :
       {SCMP_SYS(sched_setaffinity), SCMP_SYS(sched_setscheduler), SCMP_SYS(sched_setparam),
        SCMP_SYS(sched_setattr), SCMP_SYS(sched_getaffinity), SCMP_SYS(sched_getscheduler),
        SCMP_SYS(sched_getparam), SCMP_SYS(sched_getattr), SCMP_SYS(prlimit64)}) {
    filter.add(kRefuse, call, {differs(0, 0)});
  }
  for (const int call :
       {SCMP_SYS(setpriority), SCMP_SYS(getpriority), SCMP_SYS(ioprio_set), SCMP_SYS(ioprio_get)}) {
    filter.add(kRefuse, call, {differs(1, 0)});
  }
  filter.add(kRefuse, SCMP_SYS(setpriority), {differs(0, 0)});  // for groups and users
  constexpr long long kNegative = 0x80000000;                   // all processes, or a group
  filter.add(kRefuse, SCMP_SYS(kill), {masked(0, kNegative, kNegative)});
  for (const int command : {F_SETOWN, F_SETOWN_EX, F_SETSIG}) {  // these send signals, too
    filter.add(kRefuse, SCMP_SYS(fcntl), {equal_int(1, command)});
  }
  for (const int request : {FIOSETOWN, SIOCSPGRP}) {
    filter.add(kRefuse, SCMP_SYS(ioctl), {equal_int(1, request)});
  }
  for (const int call : kClockCalls) {
    filter.add(kRefuse, call, {{0, SCMP_CMP_GT, datum(kClocksLast), 0}});
  }
  // A crash must not reach the machine's core handler: see RLIMIT_CORE in jail.cpp.
  filter.add(kRefuse, SCMP_SYS(setrlimit), {equal_int(0, RLIMIT_CORE)});
  filter.add(kRefuse, SCMP_SYS(prlimit64), {equal_int(1, RLIMIT_CORE), differs(2, 0)});
}

/// Ways to leave data for another process or a later build outside the own folder: kernel names, locks, and
/// operations that Landlock allows on every file of the same user. Memory files would not count towards a
/// polled limit.
void keep_off_shared(Filter& filter) {
  filter.deny(kRefuse, {SCMP_SYS(shmget),        SCMP_SYS(shmat),        SCMP_SYS(shmctl),
                        SCMP_SYS(semget),        SCMP_SYS(semop),        SCMP_SYS(semtimedop),
                        SCMP_SYS(semctl),        SCMP_SYS(msgget),       SCMP_SYS(msgsnd),
                        SCMP_SYS(msgrcv),        SCMP_SYS(msgctl),       SCMP_SYS(mq_open),
                        SCMP_SYS(mq_unlink),     SCMP_SYS(inotify_init), SCMP_SYS(inotify_init1),
                        SCMP_SYS(fanotify_init), SCMP_SYS(flock),        SCMP_SYS(chmod),
                        SCMP_SYS(fchmod),        SCMP_SYS(fchmodat),     SCMP_SYS(chown),
                        SCMP_SYS(lchown),        SCMP_SYS(fchown),       SCMP_SYS(fchownat),
                        SCMP_SYS(setxattr),      SCMP_SYS(lsetxattr),    SCMP_SYS(fsetxattr),
                        SCMP_SYS(removexattr),   SCMP_SYS(lremovexattr), SCMP_SYS(fremovexattr),
                        SCMP_SYS(utime),         SCMP_SYS(utimes),       SCMP_SYS(futimesat),
                        SCMP_SYS(utimensat),     SCMP_SYS(sync),         SCMP_SYS(syncfs)});
  constexpr int kFchmodat2 = 452;
  filter.add(kMissing, kFchmodat2);
  for (const int command : {F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW, F_SETLEASE, F_NOTIFY}) {
    filter.add(kRefuse, SCMP_SYS(fcntl), {equal_int(1, command)});
  }
}

#ifdef HONE_SANITIZED
/// Sanitizers read their own memory map, and probe addresses through pipes.
void allow_sanitizers(Filter& filter) {
  filter.allow({SCMP_SYS(pipe), SCMP_SYS(pipe2), SCMP_SYS(readlink), SCMP_SYS(readlinkat),
                SCMP_SYS(msync), SCMP_SYS(mlock), SCMP_SYS(munlock), SCMP_SYS(mlockall),
                SCMP_SYS(munlockall), SCMP_SYS(prctl), SCMP_SYS(personality), SCMP_SYS(access),
                SCMP_SYS(stat), SCMP_SYS(lstat), SCMP_SYS(rt_sigtimedwait), SCMP_SYS(wait4),
                SCMP_SYS(sched_getaffinity)});  // of each thread, to find its stack
  filter.add(SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), {equal(0, 0)});
}
#endif

}  // namespace

Status filter_candidate(const CandidateFilter& options) {
  Filter filter(kRefuse);
  deny_escapes(filter, SCMP_ACT_KILL_PROCESS);
  allow_memory_and_threads(filter, options.threads);
  allow_files(filter);
  allow_own_process(filter);
  if (options.folders) allow_folders(filter);
  if (options.writes) allow_writing(filter);
#ifdef HONE_SANITIZED
  allow_sanitizers(filter);
#endif
  return filter.load();
}

Status filter_device() {
  Filter filter(kRefuse);
  deny_escapes(filter, SCMP_ACT_KILL_PROCESS);
  allow_memory_and_threads(filter, true);
  allow_files(filter);
  allow_own_process(filter);
  // Calls of drivers: requests to the device, memory mappings, messages on descriptors, and events. The
  // messages that name the next artifact arrive in this way as well.
  filter.allow({SCMP_SYS(ioctl),
                SCMP_SYS(mmap),
                SCMP_SYS(madvise),
                SCMP_SYS(mlock),
                SCMP_SYS(munlock),
                SCMP_SYS(recvmsg),
                SCMP_SYS(eventfd2),
                SCMP_SYS(pipe2),
                SCMP_SYS(memfd_create),
                SCMP_SYS(ftruncate),
                SCMP_SYS(sched_setaffinity),
                SCMP_SYS(sched_getaffinity),
                SCMP_SYS(readlink),
                SCMP_SYS(getdents64),
                SCMP_SYS(access),
                SCMP_SYS(sysinfo),
                SCMP_SYS(statfs),
                SCMP_SYS(get_mempolicy),
                SCMP_SYS(set_mempolicy),
                SCMP_SYS(mbind),
                SCMP_SYS(timerfd_create)});
#ifdef HONE_SANITIZED
  allow_sanitizers(filter);
#endif
  filter.all_threads();
  return filter.load();
}

namespace {

/// The programs that a deny-list is for.
enum class Programs { kCompilers, kModule, kSanitizer };

/// A sanitizer of a device talks with the process that it examines through named pipes. Device nodes, and
/// other files that only a privileged process may make, stay refused.
void refuse_nodes_except_pipes(Filter& filter) {
  for (const long long type : {S_IFREG, S_IFCHR, S_IFBLK, S_IFSOCK, 0}) {
    filter.add(kRefuse, SCMP_SYS(mknod), {masked(1, S_IFMT, type)});
    filter.add(kRefuse, SCMP_SYS(mknodat), {masked(2, S_IFMT, type)});
  }
}

Status filter_programs(Programs programs) {
  Filter filter(SCMP_ACT_ALLOW);
  if (programs == Programs::kSanitizer) {
    refuse_nodes_except_pipes(filter);
  } else {
    filter.deny(kRefuse, {SCMP_SYS(mknod), SCMP_SYS(mknodat)});
  }
  if (programs != Programs::kCompilers) {
    // A driver listens on a socket, through which other processes could ask it for memory.
    constexpr long long kType = 0xf;  // the socket's type without flags
    filter.add(kRefuse, SCMP_SYS(socket), {differs(0, AF_UNIX)});
    for (const int call : {SCMP_SYS(socket), SCMP_SYS(socketpair)}) {
      for (const int type : {SOCK_DGRAM, SOCK_RAW, SOCK_RDM})
        filter.add(kRefuse, call, {masked(1, kType, type)});
    }
    if (programs == Programs::kModule) filter.add(kRefuse, SCMP_SYS(connect));
  } else {
    // Rationale: a new session gets its own scheduling group, in which the nice value of set_priority has no effect; a build could then slow a measurement.
    filter.deny(kRefuse, {SCMP_SYS(memfd_create), SCMP_SYS(socket), SCMP_SYS(setsid)});
  }
  keep_off_others(filter);
  keep_off_shared(filter);
  deny_escapes(filter, kRefuse);
  filter.deny(kRefuse, {SCMP_SYS(keyctl),
                        SCMP_SYS(add_key),
                        SCMP_SYS(request_key),
                        SCMP_SYS(perf_event_open),
                        SCMP_SYS(userfaultfd),
                        SCMP_SYS(chroot),
                        SCMP_SYS(swapon),
                        SCMP_SYS(swapoff),
                        SCMP_SYS(reboot),
                        SCMP_SYS(settimeofday),
                        SCMP_SYS(clock_settime),
                        SCMP_SYS(clock_adjtime),
                        SCMP_SYS(adjtimex),
                        SCMP_SYS(syslog),
                        SCMP_SYS(acct),
                        SCMP_SYS(quotactl),
                        SCMP_SYS(name_to_handle_at),
                        SCMP_SYS(delete_module),
                        SCMP_SYS(kexec_file_load),
                        SCMP_SYS(iopl),
                        SCMP_SYS(ioperm),
                        SCMP_SYS(pidfd_open),
                        SCMP_SYS(pidfd_send_signal),
                        SCMP_SYS(lookup_dcookie),
                        SCMP_SYS(vhangup),
                        SCMP_SYS(fsconfig),
                        SCMP_SYS(fspick),
                        SCMP_SYS(memfd_secret),
                        SCMP_SYS(migrate_pages),
                        SCMP_SYS(move_pages)});
  filter.deny(kMissing, {SCMP_SYS(clone3), SCMP_SYS(io_uring_setup), SCMP_SYS(io_uring_enter),
                         SCMP_SYS(io_uring_register)});
  for (const long long flag : {CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
                               CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET}) {
    filter.add(kRefuse, SCMP_SYS(clone), {masked(0, flag, flag)});
  }
  filter.add(kRefuse, SCMP_SYS(ioctl), {equal_int(1, TIOCSTI)});
  return filter.load();
}

}  // namespace

Status filter_builder() { return filter_programs(Programs::kCompilers); }
Status filter_module() { return filter_programs(Programs::kModule); }
Status filter_sanitizer() { return filter_programs(Programs::kSanitizer); }

}  // namespace hone
