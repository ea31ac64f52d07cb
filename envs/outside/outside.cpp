// Calls a plugin for each member of an environment, and checks its answers.
#include "outside/outside.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/crypto.hpp"
#include "base/utf8.hpp"

namespace hone {
namespace {

struct PluginSettings final : Settings {
  TurnRules rules;
  Value first = Value::map();  ///< the result of start()
};

std::string names_text(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// Converts the plugin's reply to prepare().
Result<Prepared> read_prepared(const Value& made, const Value& action, const Task& task,
                               const std::string& backend, std::size_t bytes_max) {
  Fields f(made, "prepare");
  const bool has_source = f.value_or_null("source") != nullptr;
  std::string source = has_source ? f.text("source", bytes_max) : "";
  const std::vector<std::string>& languages = task.backends.at(backend).languages;
  const std::string language = f.text_or("language", languages.front(), 64);
  const std::string outcome = has_source ? "" : f.choice("outcome", {"no_code", "rejected"});
  std::string reason = f.text_or("reason", "", 4096);
  if (Status whole = f.finish(); !whole) return internal_error(whole.error().message);
  if (has_source) {
    if (std::find(languages.begin(), languages.end(), language) == languages.end()) {
      return internal_error("prepare: language: found '" + language + "', expected one of " +
                            names_text(languages));
    }
    return Prepared(SubmittedCode{language, std::move(source)});
  }
  Verdict verdict;
  verdict.outcome = outcome == "rejected" ? Outcome::kRejected : Outcome::kNoCode;
  verdict.stage = VerdictStage::kResponse;
  verdict.reason = valid_utf8(reason);
  verdict.source_hash = sha256_hex(to_json(action));
  return Prepared(std::move(verdict));
}

class PluginEnvironment final : public Environment {
 public:
  PluginEnvironment(std::string name, Value about, std::vector<std::string> tags,
                    std::unique_ptr<const EnvironmentCalls> calls, PluginEnvironmentOptions options)
      : name_(std::move(name)),
        about_(std::move(about)),
        tags_(std::move(tags)),
        calls_(std::move(calls)),
        options_(options) {}

  std::string name() const override { return name_; }
  bool may_wait() const override { return true; }
  bool takes(const TaskEntry& entry) const override {
    return std::all_of(tags_.begin(), tags_.end(), [&entry](const std::string& tag) {
      return std::find(entry.tags.begin(), entry.tags.end(), tag) != entry.tags.end();
    });
  }
  Value describe() const override {
    Value described = *about_.find("about");
    described.set("name", name_);
    described.set("max_turns", options_.rules.max_turns);
    described.set("actions", *about_.find("actions"));
    described.set("options", describe_turn_rules(options_.rules));
    return described;
  }
  std::shared_ptr<const Settings> read_options(Fields& options, const Task& task,
                                               const std::string& backend) const override {
    auto settings = std::make_shared<PluginSettings>();
    settings->rules = read_turn_rules(options, options_.rules);
    const EpisodeView view{task, backend, *settings, {}, 0};
    auto first = calls_->ask("start", Value::map({{"episode", episode(view)}}));
    if (first) {
      settings->first = std::move(*first);
    } else {
      options.adopt(first.error());
    }
    return settings;
  }
  std::int64_t turns_max(const Settings& settings) const override {
    return static_cast<const PluginSettings&>(settings).rules.max_turns;
  }
  Value first_observation(const EpisodeView& view) const override {
    Value seen = static_cast<const PluginSettings&>(view.settings).first;
    seen.set("task", task_for_client(view.task, view.backend));
    add_turns(seen, view, rules(view), nullptr);
    return seen;
  }
  Result<Prepared> prepare(const EpisodeView& view, const Value& action) const override {
    const auto made =
        calls_->ask("prepare", Value::map({{"episode", episode(view)}, {"action", action}}));
    if (!made) return made.error().in("step: action");
    return read_prepared(*made, action, view.task, view.backend, options_.source_bytes_max);
  }
  Stop stop(const EpisodeView& view, const TurnResult& result) const override {
    return decide_stop(rules(view), view.turns.size(), view.seconds_used, result);
  }
  Value observe(const EpisodeView& view, const Value& action,
                const TurnResult& result) const override {
    const Value told =
        Value::map({{"verdict", result.verdict ? verdict_to_value(*result.verdict) : Value()},
                    {"fault", result.fault},
                    {"reward", result.reward ? Value(*result.reward) : Value()}});
    auto answer = calls_->ask(
        "observe", Value::map({{"episode", episode(view)}, {"action", action}, {"result", told}}));
    Value seen = answer ? std::move(*answer) : failed(answer.error());
    seen.set("task", Value::map({{"id", view.task.id}}));
    add_turns(seen, view, rules(view), &result);
    return seen;
  }
  std::optional<double> seconds_used(const Settings& settings,
                                     const Value& observation) const override {
    return seconds_used_of(static_cast<const PluginSettings&>(settings).rules, observation);
  }

 private:
  static const TurnRules& rules(const EpisodeView& view) {
    return static_cast<const PluginSettings&>(view.settings).rules;
  }
  /// The episode as passed to the plugin: the task and the finished turns.
  static Value episode(const EpisodeView& view) {
    Value told = Value::map();
    add_turns(told, view, rules(view), nullptr);
    return Value::map({{"task", task_for_client(view.task, view.backend)},
                       {"backend", view.backend},
                       {"turns", *told.find("history")},
                       {"max_turns", rules(view).max_turns}});
  }
  Value failed(const Error& error) const {
    const std::string words = "The environment " + name_ + " failed: " + error.message;
    return Value::map(
        {{"messages", Value::array({Value::map({{"role", "user"}, {"content", words}})})},
         {"feedback", words}});
  }

  const std::string name_;
  const Value about_;
  const std::vector<std::string> tags_;
  const std::unique_ptr<const EnvironmentCalls> calls_;
  const PluginEnvironmentOptions options_;
};

}  // namespace

Result<std::unique_ptr<Environment>> make_plugin_environment(
    std::string name, const Value& about, std::unique_ptr<const EnvironmentCalls> calls,
    PluginEnvironmentOptions options) {
  Fields f(about, name + ": describe");
  std::vector<std::string> tags = f.texts_or("tags", {});
  static_cast<void>(f.array("actions"));
  static_cast<void>(f.map("about"));
  HONE_TRY(f.finish_loosely());
  return std::unique_ptr<Environment>(std::make_unique<PluginEnvironment>(
      std::move(name), about, std::move(tags), std::move(calls), options));
}

}  // namespace hone
