// run_compiler(): runs a compiler with a time limit. build_failure(): the reason of a failed build.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "hone/plugin/failure.hpp"

namespace hone::plugin {

struct CompilerRun {
  int status = 0;          ///< as waitpid reports it
  bool timed_out = false;  ///< it was killed at the limit of its elapsed time
  std::string output;      ///< stdout and stderr, cut at a limit (256 KiB for a compiler)
};

/// The elapsed time of a run (s), without pauses of the machine. One thread.
class RunTime {
 public:
  explicit RunTime(double seconds_max) : seconds_max_(seconds_max) {}
  /// The time until is_over() should be called again.
  int pause_ms() const {
    return static_cast<int>(1e3 * std::clamp(seconds_max_ - passed_s_, 0.0, kLookSeconds)) + 1;
  }
  bool is_over() {
    const double now = now_s();
    // A longer pause means that all processes were stopped; the excess does not count.
    passed_s_ += std::min(now - looked_s_, kLookSeconds + kPauseSeconds);
    looked_s_ = now;
    return passed_s_ >= seconds_max_;
  }
  static double now_s() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }

 private:
  static constexpr double kLookSeconds = 0.4, kPauseSeconds = 1;

  const double seconds_max_;
  double looked_s_ = now_s(), passed_s_ = 0;
};

/// While it lives, child processes that this process starts get a limit of their processor time, at which they get SIGXCPU; 0:
/// they get the limit of this process. Rationale: a jail refuses to set the limit of another process.
class InheritedCpuLimit {
 public:
  explicit InheritedCpuLimit(unsigned seconds) {
    rusage used{};
    if (seconds == 0 || getrlimit(RLIMIT_CPU, &before_) != 0 || getrusage(RUSAGE_SELF, &used) != 0)
      return;
    // More than this process has used itself, so that the limit does not end it.
    const auto used_s = used.ru_utime.tv_sec + used.ru_stime.tv_sec +
                        (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1000000;
    is_set_ = set(std::min(static_cast<rlim_t>(used_s) + seconds, before_.rlim_cur));
  }
  InheritedCpuLimit(const InheritedCpuLimit&) = delete;
  InheritedCpuLimit& operator=(const InheritedCpuLimit&) = delete;
  ~InheritedCpuLimit() {
    if (is_set_) set(before_.rlim_cur);
  }

 private:
  bool set(rlim_t seconds) const {
    const rlimit limit{seconds, before_.rlim_max};
    return setrlimit(RLIMIT_CPU, &limit) == 0;
  }

  rlimit before_{};
  bool is_set_ = false;
};

/// Kills a process group. In a jail the filter refuses signals to a group (EPERM): then only the leader is killed, and the
/// jail ends the rest. Outside a jail nothing else would end them.
inline void kill_group(pid_t leader) {
  if (kill(-leader, SIGKILL) != 0) kill(leader, SIGKILL);
}

/// Reads the output of a child process from `out`, closes `out`, and waits until the child has ended. The
/// child must lead a process group, which is killed at the time limit.
inline CompilerRun finish_run(pid_t pid, int out, double seconds_max, std::size_t output_max) {
  CompilerRun run;
  RunTime time(seconds_max);
  for (;;) {
    pollfd polled{out, POLLIN, 0};
    const int ready = poll(&polled, 1, time.pause_ms());
    if (time.is_over()) {
      run.timed_out = true;
      kill_group(pid);
      break;
    }
    if (ready <= 0) continue;
    char block[65536];
    const ssize_t n = read(out, block, sizeof block);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    const std::size_t room = output_max - std::min(output_max, run.output.size());
    run.output.append(block, std::min(room, static_cast<std::size_t>(n)));
  }
  close(out);
  while (waitpid(pid, &run.status, 0) < 0 && errno == EINTR) {
  }
  return run;
}

/// Runs a program and kills it at the limit of its elapsed time. `core_seconds_max`: limit of its processor time, at which it
/// gets SIGXCPU; 0: that of this process. Fails with HONE_FAILED_PRECONDITION if the program cannot be started, and
/// with HONE_UNAVAILABLE if there is no pipe for its output.
///
///   const CompilerRun run = run_compiler({"/usr/bin/g++", "kernel.cpp"}, options.at("seconds").as_double());
///   result.set("failure", build_failure(run));
inline CompilerRun run_compiler(const std::vector<std::string>& command, double seconds_max,
                                unsigned core_seconds_max = 0) {
  constexpr std::size_t kOutputMax = 256 * 1024;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    fail(HONE_UNAVAILABLE, std::string("pipe: ") + std::strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = 0;
  int error = 0;
  {
    const InheritedCpuLimit limit(core_seconds_max);
    error = posix_spawn(&pid, arguments[0], &actions, &attributes, arguments.data(), environ);
  }
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    fail(HONE_FAILED_PRECONDITION, "start compiler " + command[0] + ": " + std::strerror(error));
  }
  return finish_run(pid, ends[0], seconds_max, kOutputMax);
}

/// The failure of a child process that gcc, clang or collect2 reports in its output; "" for none.
inline std::string failure_in(std::string_view output) {
  struct Phrase {
    std::string_view text, failure;
  };
  // The first one that is found counts. SIGXCPU is signal 24.
  constexpr Phrase kPhrases[] = {{"CPU time limit exceeded", "timed_out"},
                                 {"terminated with signal 24", "timed_out"},
                                 {"Killed signal", "killed"},
                                 {"terminated with signal 9", "killed"},
                                 {"terminated by signal 9", "killed"},
                                 {"out of memory", "out_of_memory"},
                                 {"virtual memory exhausted", "out_of_memory"}};
  for (const Phrase& phrase : kPhrases) {
    if (output.find(phrase.text) != std::string_view::npos) return std::string(phrase.failure);
  }
  return "";
}

/// The member "failure" of a build's result (hone_backend_factory::build), "" if the run succeeded.
inline std::string build_failure(const CompilerRun& run) {
  // Warnings of a successful run quote the source, which can contain any of the phrases.
  if (!run.timed_out && WIFEXITED(run.status) && WEXITSTATUS(run.status) == 0) return "";
  const std::string reported = failure_in(run.output);
  const int signal = WIFSIGNALED(run.status) ? WTERMSIG(run.status) : 0;
  if (run.timed_out || signal == SIGXCPU) return "timed_out";
  if (signal != 0 && reported != "timed_out") return "killed";
  if (!reported.empty()) return reported;
  return "refused";
}

}  // namespace hone::plugin
