// Forks, reads what the child says until it ends or its time does, and reaps it.
#include "child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "diagnostics.hpp"
#include "hone/plugin/compiler_time.hpp"
#include "hone/plugin/failure.hpp"

namespace hone_gpu {
namespace {

using hone::plugin::CompilerTime;
using hone::plugin::kill_group;

constexpr std::size_t kProgramWordsMax = 256 * 1024;

/// Reads until the end; false once the time is up.
bool read_all(int fd, std::size_t words_max, std::string& words, CompilerTime& time) {
  for (;;) {
    pollfd polled{fd, POLLIN, 0};
    const int ready = poll(&polled, 1, time.pause_ms());
    if (time.is_over(ready == 0)) return false;
    if (ready <= 0) continue;
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
  CompilerTime time(seconds_max);
  const bool over = !read_all(ends[0], words_max, ran.words, time);
  ran.starved = over && time.is_starved();
  if (over) kill_group(pid);
  close(ends[0]);
  while (waitpid(pid, &ran.status, 0) < 0 && errno == EINTR) {
  }
  ran.timed_out = (over && !ran.starved) ||
                  (WIFSIGNALED(ran.status) && WTERMSIG(ran.status) == SIGXCPU) ||
                  tells_of_time_limit(ran.words);
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
