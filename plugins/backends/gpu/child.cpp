// Forks, reads what the child says until it ends or its time does, and reaps it.
#include "child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "hone/plugin/failure.hpp"

namespace hone_gpu {
namespace {

constexpr std::size_t kProgramWordsMax = 256 * 1024;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

constexpr double kProbeSeconds = 0.4;  // between two looks of CoreProbe
// Of the time by the clock, on a machine that has a core for the compiler: its limit of processor time ends it before.
constexpr double kShareIfIdle = 1.0 / 3;

/// Whether the machine keeps this process from its core, by a little work now and then: how long it takes by the clock
/// against what it takes of a core. A compiler that only waits for something else is not starved.
class CoreProbe {
 public:
  void look() {
    const double clock = seconds_of(CLOCK_MONOTONIC), core = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    double used = 0;
    while (used < kWorkSeconds) used = seconds_of(CLOCK_THREAD_CPUTIME_ID) - core;
    core_s_ += used;
    clock_s_ += seconds_of(CLOCK_MONOTONIC) - clock;
  }
  bool is_starved() const { return core_s_ > 0 && clock_s_ > kStarved * core_s_; }

 private:
  static constexpr double kWorkSeconds = 3e-3, kStarved = 1.5;
  static double seconds_of(clockid_t clock) {
    timespec t{};
    clock_gettime(clock, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  }
  double core_s_ = 0, clock_s_ = 0;
};

/// Kills a compiler with all that it has started. In a jail the filter refuses signals to a group (EPERM): then the
/// compiler is killed, and the jail ends the rest. Outside one, nothing else would end them.
void kill_group(pid_t leader) {
  if (kill(-leader, SIGKILL) != 0) kill(leader, SIGKILL);
}

/// Reads until the end; false once the time is up.
bool read_all(int fd, double seconds_max, std::size_t words_max, std::string& words,
              CoreProbe& probe) {
  const auto start = std::chrono::steady_clock::now();
  for (;;) {
    const double left = seconds_max - seconds_since(start);
    pollfd polled{fd, POLLIN, 0};
    const double pause = std::min(left, kProbeSeconds);
    const int ready = left > 0 ? poll(&polled, 1, static_cast<int>(pause * 1e3) + 1) : 0;
    if (ready == 0 && left <= 0) return false;
    if (ready == 0) {
      probe.look();
      if (left > (1 - kShareIfIdle) * seconds_max || probe.is_starved()) continue;
      return false;
    }
    if (ready < 0) continue;
    char block[65536];
    const ssize_t n = read(fd, block, sizeof block);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return true;
    const std::size_t room = words_max - std::min(words_max, words.size());
    words.append(block, std::min(room, static_cast<std::size_t>(n)));
  }
}

}  // namespace

Ran run_child(double seconds_max, std::size_t words_max, const std::function<int(int out)>& body) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    hone::plugin::fail(HONE_UNAVAILABLE, std::string("pipe: ") + std::strerror(errno));
  }
  const pid_t pid = fork();
  if (pid < 0) {
    const int reason = errno;
    close(ends[0]);
    close(ends[1]);
    hone::plugin::fail(HONE_UNAVAILABLE, std::string("fork: ") + std::strerror(reason));
  }
  if (pid == 0) {
    setpgid(0, 0);
    close(ends[0]);
    char here[4096];  // compilers leave their temporary files where this one may write
    if (getcwd(here, sizeof here) != nullptr) setenv("TMPDIR", here, 1);
    _exit(body(ends[1]));
  }
  setpgid(pid, pid);  // whichever of the two comes first
  close(ends[1]);
  Ran ran;
  CoreProbe probe;
  const bool over = !read_all(ends[0], seconds_max, words_max, ran.words, probe);
  ran.starved = over && probe.is_starved();
  if (over) kill_group(pid);
  close(ends[0]);
  while (waitpid(pid, &ran.status, 0) < 0 && errno == EINTR) {
  }
  ran.timed_out = (over && !ran.starved) ||
                  (WIFSIGNALED(ran.status) && WTERMSIG(ran.status) == SIGXCPU) ||
                  ran.words.find(strsignal(SIGXCPU)) != std::string::npos;
  return ran;
}

Ran run_program(const std::vector<std::string>& command, double seconds_max) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  return run_child(seconds_max, kProgramWordsMax, [&](int out) {
    if (dup2(out, 1) < 0 || dup2(out, 2) < 0) return 126;
    execv(arguments[0], arguments.data());
    return 127;
  });
}

}  // namespace hone_gpu
