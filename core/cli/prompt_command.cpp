// `hone prompt`: prints the prompt of a task, or the feedback after a turn, without a server.
#include "cli/command.hpp"
#include "offline/show_prompt.hpp"

namespace hone {
namespace {

class PromptCommand : public Command {
 public:
  std::string name() const override { return "prompt"; }
  std::string summary() const override {
    return "Print the prompt of a task, or the feedback after a turn.";
  }
  std::vector<std::string> examples() const override {
    return {"hone prompt add_relu                           # zero_shot",
            "hone prompt add_relu --form few_shot           # with examples of other tasks",
            "hone prompt add_relu --hardware auto           # describes this machine",
            "hone prompt add_relu --feedback wrong          # feedback after wrong results",
            "hone prompt add_relu --json                    # a list of chat messages",
            "hone prompt sum --set environment.templates=mine     # with your own templates"};
  }
  void declare(OptionSet& options) override {
    options.text({.name = "TASK",
                  .doc = "task as DATASET/ID or ID; `hone tasks` lists them",
                  .value = "TASK",
                  .required = true},
                 request_.task);
    options.text({.name = "--form",
                  .doc = "form of the prompt (default: environment.prompt)",
                  .choices = {"zero_shot", "few_shot"}},
                 request_.form);
    options.text({.name = "--hardware",
                  .doc = "description of the hardware; auto: describe this machine",
                  .value = "TEXT"},
                 request_.hardware);
    options.text({.name = "--feedback",
                  .doc = "print the feedback for this sample verdict; `hone verdicts` lists them",
                  .value = "NAME"},
                 request_.feedback);
    options.text(
        {.name = "--language", .doc = "only this language (default: all languages of the task)"},
        request_.language);
    config_.declare(options);
    options.flag({.name = "--json", .doc = "print a JSON list of messages"}, request_.json);
  }

  int run(Terminal& terminal) override {
    auto loaded = load_config(config_.file, config_.sets);
    if (!loaded) return config_.fail(terminal, loaded.error());
    return show_prompt(terminal, std::move(*loaded), request_);
  }

 private:
  ConfigOptions config_;
  PromptRequest request_;
};

}  // namespace

std::unique_ptr<Command> make_prompt_command() { return std::make_unique<PromptCommand>(); }

}  // namespace hone
