// `hone rollout`: a model plays a server's tasks. The program is the Python package's
// hone.rollout, which this one starts in its own place.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "cli/command.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves it to us

namespace hone {
namespace {

/// HONE_PYTHON names another: of a virtual environment, say.
std::string python() {
  const char* named = std::getenv("HONE_PYTHON");
  return named != nullptr && *named != '\0' ? named : "python3";
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

/// Whether the interpreter is there and has the package with what it needs.
Status find_package(const std::string& interpreter) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_WRONLY, 0);
  }
  std::vector<std::string> words = {interpreter, "-c", "import hone.rollout"};
  pid_t child = -1;
  const int failed =
      posix_spawnp(&child, interpreter.c_str(), &actions, nullptr, pointers(words).data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return failed_precondition(interpreter + ": " + std::strerror(failed));
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return internal_error(std::string("waitpid: ") + std::strerror(errno));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return failed_precondition("rollout: " + interpreter + " cannot import hone.rollout");
}

class RolloutCommand : public Command {
 public:
  std::string name() const override { return "rollout"; }
  std::string summary() const override {
    return "Have a model behind an OpenAI-compatible endpoint play tasks (in Python).";
  }
  std::vector<std::string> examples() const override {
    return {"hone rollout --url http://127.0.0.1:8000/v1 --output traces.json --tasks add_relu",
            "hone rollout --vllm-url http://gpu:8000 --output t.json --dataset tasks --multi-turn",
            "hone rollout --url URL --output t.json --kernelbench-samples 100 --samples 4 --stream",
            "HONE_PYTHON=venv/bin/python hone rollout --help  # every option, by that interpreter"};
  }
  void declare(OptionSet& options) override {
    options.texts({.name = "OPTIONS",
                   .doc = "of python3 -m hone.rollout: the same command, started again, goes on "
                          "where it stopped",
                   .value = "FILE"},
                  arguments_);
  }
  bool passes_on() const override { return true; }
  void take_all(std::vector<std::string> arguments) override { arguments_ = std::move(arguments); }

  int run(Terminal& terminal) override {
    const std::string interpreter = python();
    if (const Status found = find_package(interpreter); !found) {
      return terminal.fail(
          found.error(),
          "get it, in a checkout: pip install './clients/python[rollout]'; or name "
          "an interpreter that has it: HONE_PYTHON=/path/to/bin/python");
    }
    std::vector<std::string> words = {interpreter, "-m", "hone.rollout"};
    words.insert(words.end(), arguments_.begin(), arguments_.end());
    execvp(interpreter.c_str(), pointers(words).data());
    return terminal.fail(internal_error(interpreter + ": " + std::strerror(errno)));
  }

 private:
  std::vector<std::string> arguments_;
};

}  // namespace

std::unique_ptr<Command> make_rollout_command() { return std::make_unique<RolloutCommand>(); }

}  // namespace hone
