// `hone prompt`: prints the prompt of a task, or the feedback after a turn, without a server.
#include <algorithm>

#include "app/host.hpp"
#include "app/parts.hpp"
#include "base/nearest.hpp"
#include "cli/command.hpp"
#include "conformance/verdict_fixtures.hpp"
#include "model/verdict.hpp"
#include "plugin/backend.hpp"
#include "terminal/progress.hpp"

namespace hone {
namespace {

/// A sample episode of exactly one turn has that turn's feedback.
const VerdictFixture* fixture_of(const std::string& name) {
  for (const VerdictFixture& fixture : verdict_fixtures()) {
    if (fixture.name == name && fixture.episode.find("turns")->as_array().size() == 1) {
      return &fixture;
    }
  }
  return nullptr;
}

std::vector<std::string> fixture_names() {
  std::vector<std::string> names;
  for (const VerdictFixture& fixture : verdict_fixtures()) {
    if (fixture_of(fixture.name) != nullptr) names.push_back(fixture.name);
  }
  return names;
}

Result<TurnResult> result_of(const VerdictFixture& fixture) {
  TurnResult result;
  const Value& turn = fixture.episode.find("turns")->as_array().front();
  if (!turn.find("scored")->as_bool()) {
    result.fault = "a sample";
    return result;
  }
  HONE_ASSIGN(result.verdict, verdict_from_value(*turn.find("verdict")));
  return result;
}

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
                 task_);
    options.text({.name = "--form",
                  .doc = "form of the prompt (default: environment.prompt)",
                  .choices = {"zero_shot", "few_shot"}},
                 form_);
    options.text({.name = "--hardware",
                  .doc = "description of the hardware; auto: describe this machine",
                  .value = "TEXT"},
                 hardware_);
    options.text({.name = "--feedback",
                  .doc = "print the feedback for this sample verdict; `hone verdicts` lists them",
                  .value = "NAME"},
                 feedback_);
    options.text(
        {.name = "--language", .doc = "only this language (default: all languages of the task)"},
        language_);
    config_.declare(options);
    options.flag({.name = "--json", .doc = "print a JSON list of messages"}, json_);
  }

  int run(Terminal& terminal) override {
    auto loaded = load_config(config_.file, config_.sets);
    if (!loaded) return config_.fail(terminal, loaded.error());
    Config& config = loaded->config;
    if (!form_.empty()) config.environment.prompt = form_;
    const auto registry = open_registry(config);
    if (const Status known = set_hardware(config, *registry); !known) {
      return terminal.fail(known.error(), "check this machine: hone doctor");
    }
    const auto catalog = open_catalog(*loaded, *registry);
    if (!catalog) return terminal.fail(catalog.error());
    const auto environments = open_environments(config, *registry);
    if (!environments) return terminal.fail(environments.error());
    terminal.status(reading_text("task " + task_));
    const auto task = (*catalog)->find_for(config.backend, task_);
    if (!task) return terminal.fail(without_verbs(task.error()), "list all tasks: hone tasks");
    const auto messages = messages_of(*environments->front(), **task, config.backend);
    if (!messages) return terminal.fail(messages.error());
    show(terminal, *messages);
    return kExitOk;
  }

 private:
  Status set_hardware(Config& config, const Registry& registry) const {
    if (hardware_.empty()) return {};
    config.environment.hardware = hardware_;
    if (hardware_ != "auto") return {};
    HONE_ASSIGN(const std::unique_ptr<Backend> backend, registry.open_backend(config.backend));
    HONE_ASSIGN(const Value facts, backend->describe(Value::map()));
    config.environment.hardware = facts.find("fingerprint")->as_string();
    return {};
  }

  Result<Value> messages_of(const Environment& environment, const Task& task,
                            const std::string& backend) const {
    Value options = Value::map();
    if (!language_.empty()) options.set("language", language_);
    Fields fields(options, "prompt");
    const std::shared_ptr<const Settings> settings =
        environment.read_options(fields, task, backend);
    HONE_TRY(fields.finish());
    const EpisodeView view{task, backend, *settings, {}, 0};
    if (feedback_.empty()) return *environment.first_observation(view).find("messages");
    const VerdictFixture* fixture = fixture_of(feedback_);
    if (fixture == nullptr) {
      return invalid_argument("--feedback: " + unknown_name("turn", feedback_, fixture_names()));
    }
    HONE_ASSIGN(const TurnResult result, result_of(*fixture));
    const Value action = Value::map({{"code", "…"}});
    const Value observation = environment.observe(view, action, result);
    return Value::array({observation.find("messages")->as_array().back()});
  }

  void show(Terminal& terminal, const Value& messages) const {
    if (json_) {
      terminal.json(messages, 2);
      return;
    }
    bool first = true;
    for (const Value& message : messages.as_array()) {
      if (!first) terminal.line();
      first = false;
      terminal.line(terminal.paint(Colour::kBold, "[" + message.find("role")->as_string() + "]"));
      std::string text = message.find("content")->as_string();
      while (!text.empty() && text.back() == '\n') text.pop_back();
      terminal.line(text);
    }
  }

  ConfigOptions config_;
  std::string task_, form_, hardware_, feedback_, language_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_prompt_command() { return std::make_unique<PromptCommand>(); }

}  // namespace hone
