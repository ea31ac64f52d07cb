// Attacks of a jailed process on a concurrent process with a known number, and traps for later processes.
#include "neighbour_acts.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <sys/fanotify.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace hone {
namespace {

using Acts = std::map<std::string, std::function<long(const std::string&)>>;
using S = const std::string&;

int number(S text) { return std::atoi(text.c_str()); }

/// The clock that counts another process' processor time; the kernel asks for no permission.
clockid_t clock_of(int pid) { return static_cast<clockid_t>(~static_cast<unsigned>(pid) << 3 | 2); }

long read_clock_of(S pid) {
  timespec time{};
  return ::syscall(SYS_clock_gettime, clock_of(number(pid)), &time);
}

long wait_for_clock_of(S pid) {
  const timespec soon{0, 1};
  return ::syscall(SYS_clock_getres, clock_of(number(pid)), &soon);
}

long look_where_it_runs(S pid) {
  cpu_set_t set;
  return ::syscall(SYS_sched_getaffinity, number(pid), sizeof set, &set);
}

long pin_other(S pid) {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return -1;
  return ::sched_setaffinity(number(pid), sizeof set, &set);
}

long schedule_other(S pid) {
  const sched_param none{};
  return ::sched_setscheduler(number(pid), SCHED_BATCH, &none);
}

long limit_other(S pid) {
  const rlimit limit{512, 512};
  return ::prlimit(number(pid), RLIMIT_NOFILE, &limit, nullptr);
}

long look_at_queues(S) {
  char info[512];
  return ::syscall(SYS_msgctl, 0, MSG_INFO, info);
}

long queue_signal(S pid) {
  siginfo_t info{};
  info.si_code = SI_QUEUE;
  return ::syscall(SYS_rt_sigqueueinfo, number(pid), SIGURG, &info);  // which is ignored
}

long have_kernel_signal(S pid) { return ::fcntl(0, F_SETOWN, number(pid)); }

long write_memory_of(S pid) {
  char from = 0;
  iovec local{&from, 1}, remote{reinterpret_cast<void*>(0x400000), 1};
  return ::process_vm_writev(number(pid), &local, 1, &remote, 1, 0);
}

long lock_shared_inode(S) {
  struct flock whole {};
  whole.l_type = F_RDLCK;
  return ::fcntl(0, F_SETLK, &whole);
}

/// Leaves a file under every name that a later build might meet.
long plant(S) {
  int left = 0;
  for (const char* path : {"planted", "cc1plus", "submission.cpp", "../planted", "/tmp/planted",
                           "/dev/shm/planted", "/var/tmp/planted"}) {
    left += ::open(path, O_WRONLY | O_CREAT, 0666) >= 0 ? 1 : 0;
  }
  std::printf("%d left\n", left);
  return 0;
}

/// As many full files as are asked for.
long fill_files(S count) {
  static const char kBlock[1 << 16] = {};
  for (int i = 0; i < number(count); ++i) {
    const int fd = ::open(("full" + std::to_string(i)).c_str(), O_WRONLY | O_CREAT, 0600);
    if (fd < 0) return -1;
    for (int block = 0; block < 16; ++block) {
      if (::write(fd, kBlock, sizeof kBlock) != static_cast<ssize_t>(sizeof kBlock)) return -1;
    }
    ::close(fd);
  }
  return 0;
}

/// The same, and stays.
long fill_and_stay(S count) {
  if (const long failed = fill_files(count); failed != 0) return failed;
  for (;;) ::pause();
}

/// Empty files, as many as are asked for.
long make_files(S count) {
  for (int i = 0; i < number(count); ++i) {
    const int fd = ::open(("i" + std::to_string(i)).c_str(), O_WRONLY | O_CREAT, 0600);
    if (fd < 0) return -1;
    ::close(fd);
  }
  return 0;
}

/// A folder that may not be listed, with a file in it.
long plant_locked(S name) {
  if (::mkdir(name.c_str(), 0300) != 0 || ::mkdir((name + "/within").c_str(), 0300) != 0) return -1;
  return ::open((name + "/within/planted").c_str(), O_WRONLY | O_CREAT, 0) >= 0 ? 0 : -1;
}

long find_plants(S) {
  int found = 0;
  DIR* folder = ::opendir(".");
  if (folder == nullptr) return -1;
  while (const dirent* entry = ::readdir(folder)) found += entry->d_name[0] != '.' ? 1 : 0;
  ::closedir(folder);
  for (const char* path : {"../planted", "/tmp/planted", "/dev/shm/planted", "/var/tmp/planted"}) {
    struct stat info {};
    found += ::stat(path, &info) == 0 ? 1 : 0;
  }
  std::printf("%d found\n", found);
  return 0;
}

long print_core_limit(S) {
  rlimit limit{};
  ::getrlimit(RLIMIT_CORE, &limit);
  std::printf("%ld %ld\n", static_cast<long>(limit.rlim_cur), static_cast<long>(limit.rlim_max));
  return 0;
}

long clear_core_limit(S) {
  const rlimit none{0, 0};
  return ::setrlimit(RLIMIT_CORE, &none);
}

Acts against_processes() {
  return {
      {"clock-of", read_clock_of},
      {"resolution-of", wait_for_clock_of},
      {"affinity-of", look_where_it_runs},
      {"pin-other", pin_other},
      {"schedule-other", schedule_other},
      {"nice-other",
       [](S pid) -> long {
         return ::setpriority(PRIO_PROCESS, static_cast<id_t>(number(pid)), 19);
       }},
      {"nice-user", [](S) -> long { return ::setpriority(PRIO_USER, 0, 19); }},
      {"limit-other", limit_other},
      {"queue-signal", queue_signal},
      {"sigio", have_kernel_signal},
      {"writev", write_memory_of},
      {"pidfd-open", [](S pid) -> long { return ::syscall(SYS_pidfd_open, number(pid), 0); }},
      {"kcmp", [](S pid) -> long { return ::syscall(SYS_kcmp, number(pid), ::getpid(), 1, 0, 0); }},
  };
}

Acts through_names() {
  return {
      {"shm-open", [](S) -> long { return ::shm_open("/hone-word", O_CREAT | O_RDWR, 0666); }},
      {"shmget", [](S) -> long { return ::shmget(0x6e65, 4096, IPC_CREAT | 0666); }},
      {"semget", [](S) -> long { return ::semget(0x6e65, 1, IPC_CREAT | 0666); }},
      {"msgget", [](S) -> long { return ::msgget(0x6e65, IPC_CREAT | 0666); }},
      {"msgctl", look_at_queues},
      {"shmctl", [](S) -> long { return ::syscall(SYS_shmctl, 0, SHM_INFO, nullptr); }},
      {"semctl", [](S) -> long { return ::syscall(SYS_semctl, 0, 0, SEM_INFO, nullptr); }},
      {"mq-open",
       [](S) -> long { return ::mq_open("/hone-word", O_CREAT | O_RDWR, 0666, nullptr); }},
      {"mq-unlink", [](S) -> long { return ::mq_unlink("/hone-word"); }},
      {"add-key",
       [](S) -> long {
         return ::syscall(SYS_add_key, "user", "hone-word", "x", 1, -4 /* user's */);
       }},
      {"request-key",
       [](S) -> long { return ::syscall(SYS_request_key, "user", "hone-word", nullptr, -4); }},
      {"inotify", [](S) -> long { return ::inotify_init1(IN_CLOEXEC); }},
      {"fanotify", [](S) -> long { return ::fanotify_init(FAN_CLASS_NOTIF, O_RDONLY); }},
      {"flock", [](S) -> long { return ::flock(0, LOCK_SH | LOCK_NB); }},
      {"lock", lock_shared_inode},
      {"chmod", [](S path) -> long { return ::chmod(path.c_str(), 0777); }},
      {"chown", [](S path) -> long { return ::chown(path.c_str(), ::getuid(), ::getgid()); }},
      {"utime", [](S path) -> long { return ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0); }},
      {"xattr", [](S path) -> long { return ::setxattr(path.c_str(), "user.hone", "word", 4, 0); }},
      {"sysinfo",
       [](S) -> long {
         struct sysinfo info {};
         return ::sysinfo(&info);
       }},
      {"stat",
       [](S path) -> long {
         struct stat info {};
         return ::stat(path.c_str(), &info);
       }},
      {"plant", plant},
      {"find-plants", find_plants},
      {"fill-files", fill_files},
      {"fill-and-stay", fill_and_stay},
      {"make-files", make_files},
      {"plant-locked", plant_locked},
      {"core-limit", print_core_limit},
      {"clear-core-limit", clear_core_limit},
  };
}

}  // namespace

Acts neighbour_acts() {
  Acts acts = against_processes();
  acts.merge(through_names());
  return acts;
}

}  // namespace hone
