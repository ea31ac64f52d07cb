// Starts interpreters by posix_spawn: this process may have threads.
#include "app/client_package.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves it to us

namespace hone {
namespace {

/// Runs it to its end: its exit status, or 128 and the signal.
Result<int> run_program(std::vector<std::string> words, const posix_spawn_file_actions_t& actions) {
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t interrupt;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  posix_spawnattr_setsigdefault(&attributes, &interrupt);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t child = -1;
  const int failed = posix_spawnp(&child, words[0].c_str(), &actions, &attributes,
                                  pointers_to(words).data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0) return failed_precondition(words[0] + ": " + std::strerror(failed));
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return internal_error(std::string("waitpid: ") + std::strerror(errno));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

std::string client_python() {
  const char* named = std::getenv("HONE_PYTHON");
  return named != nullptr && *named != '\0' ? named : "python3";
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

Status find_rollout(const std::string& interpreter) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_WRONLY, 0);
  }
  const auto status = run_program({interpreter, "-c", "import hone.rollout"}, actions);
  posix_spawn_file_actions_destroy(&actions);
  if (!status) return status.error();
  if (*status == 0) return {};
  return failed_precondition("rollout: " + interpreter + " cannot import hone.rollout");
}

Result<int> run_rollout(const std::string& interpreter, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {interpreter, "-m", "hone.rollout"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  const auto before = std::signal(SIGINT, SIG_IGN);
  auto status = run_program(std::move(words), actions);
  std::signal(SIGINT, before);
  posix_spawn_file_actions_destroy(&actions);
  return status;
}

}  // namespace hone
