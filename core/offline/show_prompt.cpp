// Asks the environment as a reset or a step does.
#include "offline/show_prompt.hpp"

#include <memory>
#include <vector>

#include "app/host.hpp"
#include "app/parts.hpp"
#include "base/nearest.hpp"
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

Status set_hardware(Config& config, const Registry& registry, const std::string& hardware) {
  if (hardware.empty()) return {};
  config.environment.hardware = hardware;
  if (hardware != "auto") return {};
  HONE_ASSIGN(const std::unique_ptr<Backend> backend, registry.open_backend(config.backend));
  HONE_ASSIGN(const Value facts, backend->describe(Value::map()));
  config.environment.hardware = facts.find("fingerprint")->as_string();
  return {};
}

Result<Value> messages_of(const Environment& environment, const Task& task,
                          const std::string& backend, const PromptRequest& request) {
  Value options = Value::map();
  if (!request.language.empty()) options.set("language", request.language);
  Fields fields(options, "prompt");
  const std::shared_ptr<const Settings> settings = environment.read_options(fields, task, backend);
  HONE_TRY(fields.finish());
  const EpisodeView view{task, backend, *settings, {}, 0};
  if (request.feedback.empty()) return *environment.first_observation(view).find("messages");
  const VerdictFixture* fixture = fixture_of(request.feedback);
  if (fixture == nullptr) {
    return invalid_argument("--feedback: " +
                            unknown_name("turn", request.feedback, fixture_names()));
  }
  HONE_ASSIGN(const TurnResult result, result_of(*fixture));
  const Value action = Value::map({{"code", "…"}});
  const Value observation = environment.observe(view, action, result);
  return Value::array({observation.find("messages")->as_array().back()});
}

void show_messages(Terminal& terminal, const Value& messages, bool json) {
  if (json) {
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

}  // namespace

int show_prompt(Terminal& terminal, LoadedConfig loaded, const PromptRequest& request) {
  Config& config = loaded.config;
  if (!request.form.empty()) config.environment.prompt = request.form;
  const auto registry = open_registry(config);
  if (const Status known = set_hardware(config, *registry, request.hardware); !known) {
    return terminal.fail(known.error(), "check this machine: hone doctor");
  }
  const auto catalog = open_catalog(loaded, *registry);
  if (!catalog) return terminal.fail(catalog.error());
  const auto environments = open_environments(config, *registry);
  if (!environments) return terminal.fail(environments.error());
  terminal.status(reading_text("task " + request.task));
  const auto task = (*catalog)->find_for(config.backend, request.task);
  if (!task) return terminal.fail(without_verbs(task.error()), "list all tasks: hone tasks");
  const auto messages = messages_of(*environments->front(), **task, config.backend, request);
  if (!messages) return terminal.fail(messages.error());
  show_messages(terminal, *messages, request.json);
  return kExitOk;
}

}  // namespace hone
