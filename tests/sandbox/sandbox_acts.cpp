// Named acts of a hostile or broken program. Each returns 0 if it worked, and -1 with errno if not.
#include "sandbox_acts.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <thread>
#include <vector>

#include "counting_acts.hpp"
#include "neighbour_acts.hpp"
#include "raw_call_acts.hpp"
#include "starting_acts.hpp"

namespace hone {
namespace {

long open_for(const std::string& path, int flags) { return ::open(path.c_str(), flags, 0600); }

long fork_once() {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  if (pid > 0) ::waitpid(pid, nullptr, 0);
  return pid > 0 ? 0 : -1;
}

/// A child that leads a session of its own, as its parent does.
long lead_a_session() {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(::setsid() < 0 ? errno : 0);
  int status = 0;
  if (pid < 0 || ::waitpid(pid, &status, 0) < 0) return -1;
  errno = WEXITSTATUS(status);
  return errno == 0 ? 0 : -1;
}

/// Children that leave the session and make more, for ever.
long fork_bomb() {
  for (;;) {
    if (::fork() == 0) {
      ::setsid();
      (void)!::write(3, "b", 1);  // a sign of life, to whoever started us
    }
  }
}

/// One process after another, none of which lives long enough to be looked up.
long fork_chain() {
  for (int links = 0;; ++links) {
    if (::fork() != 0) ::_exit(0);
    ::setsid();
    if (links < 12) (void)!::write(3, "b", 1);
  }
}

/// A daemon that holds nothing of ours but keeps running after we have ended.
long leave_daemon() {
  if (::fork() != 0) return 0;
  ::setsid();
  if (::fork() != 0) ::_exit(0);
  for (;;) ::pause();
}

long leave_daemon_and_wait() {
  leave_daemon();
  for (;;) ::pause();
}

/// Shows which descriptors there are besides the standard ones.
long write_to_third() {
  std::printf("descriptors");
  for (int fd = 3; fd < 1024; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) std::printf(" %d", fd);
  }
  std::printf("\n");
  return ::write(3, "3", 1);
}

long eat_memory() {
  constexpr std::size_t kBlock = 16u << 20;
  for (;;) {
    void* block =
        ::mmap(nullptr, kBlock, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) continue;
    std::memset(block, 1, kBlock);
  }
}

long flood_output() {
  std::vector<char> block(1 << 20, 'x');
  for (int i = 0; i < 1024; ++i) {
    for (std::size_t done = 0; done < block.size();) {
      const ssize_t n = ::write(1, block.data() + done, block.size() - done);
      if (n < 0) return -1;
      done += static_cast<std::size_t>(n);
    }
  }
  std::fputs("the end\n", stderr);
  return 0;
}

long exhaust_descriptors() {
  int last = 0;
  while (last >= 0) last = ::dup(0);
  return last;
}

/// The error once no more threads can be made; there is a limit, so the loop ends.
long thread_bomb() {
  std::vector<pthread_t> threads;
  for (int i = 0; i < 100'000; ++i) {
    pthread_t thread;
    const auto body = [](void*) -> void* {
      for (;;) ::pause();
    };
    const int error = ::pthread_create(&thread, nullptr, body, nullptr);
    if (error != 0) {
      errno = error;
      return -1;
    }
  }
  return 0;
}

long one_thread() {
  std::atomic<int> seen = 0;
  std::thread([&] { seen = 1; }).join();
  return seen == 1 ? 0 : -1;
}

long close_everything() {
  for (int fd = 0; fd < 1024; ++fd) ::close(fd);
  return 0;
}

long stop_itself() { return ::raise(SIGSTOP); }

long fill_folder() {
  const int fd = ::open("big", O_WRONLY | O_CREAT, 0600);
  std::vector<char> block(1 << 20, 'x');
  ::signal(SIGXFSZ, SIG_IGN);
  for (int i = 0; i < 4096; ++i) {
    if (::write(fd, block.data(), block.size()) < 0) return -1;
  }
  return 0;
}

/// Leaves a secret in the working folder, says through descriptor 3 where that is, and stays.
long announce_folder() {
  const int fd = ::open("secret", O_WRONLY | O_CREAT, 0644);
  char folder[4096];
  if (fd < 0 || ::getcwd(folder, sizeof folder) == nullptr) return -1;
  if (::write(3, folder, std::strlen(folder)) < 0) return -1;
  for (;;) ::pause();
}

long list_processes() {
  int others = 0;
  DIR* folder = ::opendir("/proc");
  if (folder == nullptr) return -1;
  while (const dirent* entry = ::readdir(folder)) {
    const int pid = std::atoi(entry->d_name);
    others += pid > 0 && pid != ::getpid() ? 1 : 0;
  }
  std::printf("%d others\n", others);
  return others == 0 ? 0 : -1;
}

/// Loads the library whose descriptor is 3, as hone-candidate loads an artifact.
long load_library() {
  void* library = ::dlopen("/proc/self/fd/3", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::printf("%s\n", ::dlerror());
    return -1;
  }
  return ::dlsym(library, "answer") != nullptr ? 0 : -1;
}

long read_memory_of(pid_t pid) {
  char to = 0;
  iovec local{&to, 1}, remote{reinterpret_cast<void*>(0x400000), 1};
  return ::process_vm_readv(pid, &local, 1, &remote, 1, 0);
}

long set_timer() {
  itimerval value{};
  value.it_value.tv_sec = 1000;
  return ::setitimer(ITIMER_REAL, &value, nullptr);
}

long make_timer() {
  timer_t timer{};
  return ::timer_create(CLOCK_MONOTONIC, nullptr, &timer);
}

long pin_elsewhere() {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(0, &set);
  return ::sched_setaffinity(0, sizeof set, &set);
}

long raise_limit(pid_t pid) {
  const rlimit limit{4096, 4096};
  return ::prlimit(pid, RLIMIT_NOFILE, &limit, nullptr);
}

/// Allocates on the heap from several functions, throws, prints: what an honest submission does.
long be_honest() {
  std::map<int, std::string> words;
  for (int i = 0; i < 10'000; ++i) words[i] = std::string(static_cast<std::size_t>(i % 99), 'x');
  try {
    words.at(-1);
  } catch (const std::out_of_range&) {
    std::printf("%zu words\n", words.size());
  }
  return 0;
}

[[noreturn]] void spin() {
  volatile std::uint64_t counter = 0;
  for (;;) counter = counter + 1;
}

using Act = std::function<long(const std::string&)>;

std::map<std::string, Act> socket_acts() {
  const auto open_socket = [](int family, int type) {
    return [=](const std::string&) -> long { return ::socket(family, type, 0); };
  };
  return {
      {"inet", open_socket(AF_INET, SOCK_STREAM)},
      {"udp", open_socket(AF_INET, SOCK_DGRAM)},
      {"inet6", open_socket(AF_INET6, SOCK_STREAM)},
      {"unix", open_socket(AF_UNIX, SOCK_STREAM)},
      {"vsock", open_socket(40, SOCK_STREAM)},
      {"netlink", open_socket(AF_NETLINK, SOCK_RAW)},
      // As the processes of a sanitizer talk: one listens, the other one connects.
      {"connect",
       [](const std::string&) -> long {
         sockaddr_un address{};
         address.sun_family = AF_UNIX;
         auto* to = reinterpret_cast<sockaddr*>(&address);
         socklen_t size = sizeof address;
         const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
         // Without a name, the kernel chooses one that no other test has.
         if (listener < 0 || ::bind(listener, to, sizeof address.sun_family) != 0 ||
             ::listen(listener, 1) != 0 || ::getsockname(listener, to, &size) != 0)
           return -1;
         return ::connect(::socket(AF_UNIX, SOCK_STREAM, 0), to, size);
       }},
      {"pipe-node", [](const std::string&) -> long { return ::mkfifo("pipe", 0600); }},
      {"device-node",
       [](const std::string&) -> long { return ::mknod("device", S_IFCHR | 0666, makedev(1, 3)); }},
      {"block-node",
       [](const std::string&) -> long { return ::mknod("block", S_IFBLK | 0666, makedev(8, 0)); }},
      {"file-node", [](const std::string&) -> long { return ::mknod("file", 0600, 0); }},
      {"socketpair", [](const std::string&) -> long {
         int ends[2];
         return ::socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
       }}};
}

std::map<std::string, Act> kernel_acts() {
  using S = const std::string&;
  return {
      {"keyctl", [](S) { return ::syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, -3, 0); }},
      {"io_uring",
       [](S) {
         char parameters[256] = {};
         return ::syscall(SYS_io_uring_setup, 4, parameters);
       }},
      {"io_setup",
       [](S) {
         unsigned long context = 0;
         return ::syscall(SYS_io_setup, 4, &context);
       }},
      {"userfaultfd", [](S) { return ::syscall(SYS_userfaultfd, 1); }},
      {"bpf",
       [](S) {
         char attributes[128] = {};
         return ::syscall(SYS_bpf, 0, attributes, sizeof attributes);
       }},
      {"perf",
       [](S) {
         char attributes[128] = {};
         return ::syscall(SYS_perf_event_open, attributes, 0, -1, -1, 0);
       }},
      {"unshare", [](S) { return static_cast<long>(::unshare(CLONE_NEWUSER)); }},
      {"setns", [](S) { return static_cast<long>(::setns(0, 0)); }},
      {"mount", [](S) { return static_cast<long>(::mount("x", "/", "tmpfs", 0, nullptr)); }},
      {"memfd", [](S) { return static_cast<long>(::memfd_create("x", 0)); }},
      {"timerfd", [](S) { return static_cast<long>(::timerfd_create(CLOCK_MONOTONIC, 0)); }},
      {"setitimer", [](S) { return set_timer(); }},
      {"timer_create", [](S) { return make_timer(); }},
      {"affinity", [](S) { return pin_elsewhere(); }},
      {"priority", [](S) { return static_cast<long>(::setpriority(PRIO_PROCESS, 0, 5)); }},
      {"prlimit", [](S detail) { return raise_limit(std::atoi(detail.c_str())); }},
      {"clone3", [](S) { return ::syscall(SYS_clone3, nullptr, 0); }},
      {"pdeathsig", [](S) { return static_cast<long>(::prctl(PR_SET_PDEATHSIG, 0)); }},
      {"dumpable", [](S) { return static_cast<long>(::prctl(PR_SET_DUMPABLE, 0)); }},
  };
}

std::map<std::string, Act> process_acts() {
  using S = const std::string&;
  return {
      {"fork", [](S) { return fork_once(); }},
      {"setsid", [](S) { return lead_a_session(); }},
      {"fork-bomb", [](S) { return fork_bomb(); }},
      {"fork-chain", [](S) { return fork_chain(); }},
      {"daemon", [](S) { return leave_daemon(); }},
      {"daemon-and-wait", [](S) { return leave_daemon_and_wait(); }},
      {"thread", [](S) { return one_thread(); }},
      {"thread-bomb", [](S) { return thread_bomb(); }},
      {"kill-all", [](S) { return static_cast<long>(::kill(-1, SIGKILL)); }},
      {"kill-parent", [](S) { return static_cast<long>(::kill(::getppid(), SIGKILL)); }},
      {"kill", [](S pid) { return static_cast<long>(::kill(std::atoi(pid.c_str()), SIGKILL)); }},
      {"ptrace",
       [](S pid) { return ::ptrace(PTRACE_SEIZE, std::atoi(pid.c_str()), nullptr, nullptr); }},
      {"readv", [](S pid) { return read_memory_of(std::atoi(pid.c_str())); }},
      {"stop", [](S) { return stop_itself(); }},
      {"signal", [](S number) { return static_cast<long>(::raise(std::atoi(number.c_str()))); }},
      {"abort", [](S) -> long { std::abort(); }},
      {"spin", [](S) -> long { spin(); }},
      {"wait",
       [](S) -> long {
         for (;;) ::pause();
       }},
      {"exit", [](S code) -> long { ::_exit(std::atoi(code.c_str())); }},
      {"honest", [](S) { return be_honest(); }},
      {"list-processes", [](S) { return list_processes(); }},
  };
}

std::map<std::string, Act> file_acts() {
  using S = const std::string&;
  return {
      {"memory", [](S) { return eat_memory(); }},
      {"flood", [](S) { return flood_output(); }},
      {"descriptors", [](S) { return exhaust_descriptors(); }},
      {"close", [](S) { return close_everything(); }},
      {"fill", [](S) { return fill_folder(); }},
      {"announce-folder", [](S) { return announce_folder(); }},
      {"write-3", [](S) { return write_to_third(); }},
      {"load", [](S) { return load_library(); }},
      {"read", [](S path) { return open_for(path, O_RDONLY); }},
      {"write", [](S path) { return open_for(path, O_WRONLY); }},
      {"create", [](S path) { return open_for(path, O_WRONLY | O_CREAT); }},
      {"list", [](S path) { return open_for(path, O_RDONLY | O_DIRECTORY); }},
      {"run",
       [](S path) { return static_cast<long>(::execl(path.c_str(), path.c_str(), nullptr)); }},
      {"compile",
       [](S program) {
         return static_cast<long>(
             std::system(("printf 'int main(){return 0;}' > a.cpp && " + program +
                          " -O1 a.cpp -o a.out && "
                          // The linker may not make it executable.
                          "/lib64/ld-linux-x86-64.so.2 ./a.out")
                             .c_str()));
       }},
  };
}

}  // namespace

int perform(const std::string& act, const std::string& detail) {
  std::map<std::string, Act> acts = socket_acts();
  acts.merge(kernel_acts());
  acts.merge(process_acts());
  acts.merge(file_acts());
  acts.merge(counting_acts());
  acts.merge(starting_acts());
  acts.merge(neighbour_acts());
  acts.merge(raw_call_acts());
  const auto found = acts.find(act);
  if (found == acts.end()) return 3;
  const long result = found->second(detail);
  if (result >= 0) {
    std::fflush(stdout);
    return result == 0 || act != "compile" ? 0 : 1;
  }
  std::printf("%s\n", ::strerrorname_np(errno));
  std::fflush(stdout);
  return 1;
}

}  // namespace hone
