// `hone rollout`: replaces this process by hone.rollout of the Python package, in which a model plays a server's tasks.
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "app/client_package.hpp"
#include "cli/command.hpp"

namespace hone {
namespace {

class RolloutCommand : public Command {
 public:
  std::string name() const override { return "rollout"; }
  std::string summary() const override {
    return "Let a model behind an OpenAI-compatible endpoint play tasks.";
  }
  std::vector<std::string> examples() const override {
    return {"hone rollout --url http://127.0.0.1:8000/v1 --output traces.json --tasks add_relu",
            "hone rollout --vllm-url http://gpu:8000 --output t.json --dataset tasks --multi-turn",
            "hone rollout --url URL --output t.json --kernelbench-samples 100 --samples 4 --stream",
            "HONE_PYTHON=venv/bin/python hone rollout --help  # all options"};
  }
  void declare(OptionSet& options) override {
    options.texts(
        {.name = "OPTIONS",
         .doc = "options of python3 -m hone.rollout; the same command continues an interrupted run",
         .value = "FILE"},
        arguments_);
  }
  bool passes_on() const override { return true; }
  void take_all(std::vector<std::string> arguments) override { arguments_ = std::move(arguments); }

  int run(Terminal& terminal) override {
    const std::string interpreter = client_python();
    if (const Status found = find_rollout(interpreter); !found) {
      return terminal.fail(found.error(), kHowToGetRollout);
    }
    std::vector<std::string> words = {interpreter, "-m", "hone.rollout"};
    words.insert(words.end(), arguments_.begin(), arguments_.end());
    execvp(interpreter.c_str(), pointers_to(words).data());
    return terminal.fail(internal_error(interpreter + ": " + std::strerror(errno)));
  }

 private:
  std::vector<std::string> arguments_;
};

}  // namespace

std::unique_ptr<Command> make_rollout_command() { return std::make_unique<RolloutCommand>(); }

}  // namespace hone
