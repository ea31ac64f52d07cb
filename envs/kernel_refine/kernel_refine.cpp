// The state machine of kernel_refine: options, actions, stop rules, observations.
#include "kernel_refine/kernel_refine.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/crypto.hpp"
#include "base/files.hpp"
#include "base/nearest.hpp"
#include "kernel_refine/compiler_words.hpp"
#include "kernel_refine/extract.hpp"
#include "kernel_refine/messages.hpp"
#include "kernel_refine/settings.hpp"
#include "kernel_refine/words.hpp"

namespace hone {
namespace kernel_refine {
namespace {

struct Action {
  std::string text;  ///< source code, or a whole response
  bool response = false;
  std::string language;  ///< the language that the action names; else empty
  std::string tool;      ///< of a tool call; else empty
};

Result<Action> read_action(const Value& action) {
  Fields f(action, "step: action");
  Action read;
  read.tool = f.text_or("tool", "", 64);
  constexpr std::size_t kNoLimit = SIZE_MAX;  // a text that is too long is an outcome, not an error
  const bool has_code = f.value_or_null("code") != nullptr;  // nil counts as absent
  read.response = f.value_or_null("response") != nullptr;
  const std::string code = f.text_or("code", "", kNoLimit);
  const std::string response = f.text_or("response", "", kNoLimit);
  read.language = f.text_or("language", "", 64);
  HONE_TRY(f.finish());
  if (read.tool == enum_name(Tool::kHardware)) {
    if (!has_code && !read.response) return read;
    return invalid_argument("step: action: found code for the tool hardware, expected none");
  }
  if (has_code == read.response) {
    return invalid_argument("step: action: expected either 'code' or 'response', found " +
                            std::string(read.response ? "both" : "neither"));
  }
  read.text = read.response ? response : code;
  return read;
}

/// The reason to reject a source before it is built; empty: none.
std::string refuse_source(const std::string& source, std::size_t bytes_max) {
  if (source.size() > bytes_max) {
    return "the source has " + std::to_string(source.size()) + " bytes, at most " +
           std::to_string(bytes_max) + " are allowed";
  }
  const auto binary = std::find_if(source.begin(), source.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && (byte < '\t' || byte > '\r')) || byte == 0x7f;
  });
  const std::size_t control = static_cast<std::size_t>(binary - source.begin());
  const std::size_t at = std::min(control, find_invalid_utf8(source));
  if (at >= source.size()) return {};
  char hex[8];
  std::snprintf(hex, sizeof hex, "0x%02x",
                static_cast<unsigned>(static_cast<unsigned char>(source[at])));
  return "the source is not text: byte " + std::string(hex) + " at offset " + std::to_string(at);
}

Verdict refusal(Outcome outcome, std::string reason, const std::string& text) {
  Verdict verdict;
  verdict.outcome = outcome;
  verdict.stage = VerdictStage::kResponse;
  verdict.reason = std::move(reason);
  verdict.source_hash = sha256_hex(text);
  return verdict;
}

Value message(const char* role, std::string content) {
  return Value::map({{"role", role}, {"content", std::move(content)}});
}

/// The calls that count against the budget.
std::vector<CallFacts> used_calls(const EpisodeView& view) {
  std::vector<CallFacts> used(view.calls.begin(), view.calls.end());
  used.insert(used.end(), view.cancelled.begin(), view.cancelled.end());
  return used;
}

Value all_tool_schemas() {
  ToolRules one_use;
  for (std::size_t i = 0; i < std::size(EnumNames<Tool>::kNames); ++i)
    one_use.uses[static_cast<Tool>(i)] = 1;
  return tool_schemas(one_use, {});
}

class KernelRefine final : public Environment {
 public:
  KernelRefine(KernelRefineOptions options, Messages messages)
      : options_(std::move(options)), messages_(std::move(messages)) {}

  std::string name() const override { return "kernel_refine"; }
  Value describe() const override;
  std::shared_ptr<const Settings> read_options(Fields& options, const Task& task,
                                               const std::string& backend) const override {
    const std::vector<std::string>& offered = task.backends.at(backend).languages;
    auto settings = read_settings(options, options_, offered);
    const std::string& language = settings->language.empty() ? offered.front() : settings->language;
    if (settings->prompt == kFewShot && !messages_.has_examples(task, language, backend)) {
      options.mistake("prompt", "found few_shot, but there are no examples in " + language);
    }
    return settings;
  }
  std::int64_t turns_max(const Settings& settings) const override {
    return static_cast<const RefineSettings&>(settings).rules.max_turns;
  }
  Value first_observation(const EpisodeView& view) const override;
  Result<Prepared> prepare(const EpisodeView& view, const Value& action) const override;
  Result<ToolCall> prepare_call(const EpisodeView& view, const Value& action) const override;
  Value observe_call(const EpisodeView& view, const Value& action, Tool tool,
                     const Examination& found) const override;
  Stop stop(const EpisodeView& view, const TurnResult& result) const override {
    return decide_stop(rules(view), view.turns.size(), view.seconds_used, result);
  }
  Value observe(const EpisodeView& view, const Value& action,
                const TurnResult& result) const override;
  std::optional<double> seconds_used(const Settings& settings,
                                     const Value& observation) const override {
    return seconds_used_of(static_cast<const RefineSettings&>(settings).rules, observation);
  }

 private:
  static const RefineSettings& own(const EpisodeView& view) {
    return static_cast<const RefineSettings&>(view.settings);
  }
  /// The rules of turns after the calls so far, each of which can cost turns. Rationale: only calls with an answer do. A journal
  /// has no others, and a lost connection must not cost an honest client turns.
  static TurnRules rules(const EpisodeView& view) {
    TurnRules rules = own(view).rules;
    const auto done = static_cast<std::int64_t>(view.turns.size());
    rules.max_turns = std::max(rules.max_turns - turns_of(own(view).tools, view.calls), done);
    return rules;
  }
  /// The language of the options, or all languages of the task.
  static std::vector<std::string> languages(const EpisodeView& view) {
    if (!own(view).language.empty()) return {own(view).language};
    return view.task.backends.at(view.backend).languages;
  }
  Result<Prepared> prepare_code(const EpisodeView& view, Action action) const;
  Prepared prepare_source(const EpisodeView& view, std::string source, std::string language) const;
  static void add_tools_left(Value& observation, const EpisodeView& view,
                             std::span<const CallFacts> calls);
  std::string echo(const Value& action) const;
  std::string source_of(const EpisodeView& view, const Value& action) const;

  const KernelRefineOptions options_;
  const Messages messages_;
};

Value KernelRefine::describe() const {
  return Value::map(
      {{"name", name()},
       {"max_turns", options_.rules.max_turns},
       {"actions",
        Value::array(
            {Value::map({{"code", "str: a whole source file"},
                         {"language", "str, optional: one of the task's"}}),
             Value::map({{"response", "str: a model's whole answer; the code is taken from it"},
                         {"language", "str, optional"}}),
             Value::map({{"tool", "str: a tool's name, in a step with 'call'"},
                         {"code", "str, or response as above; not for hardware"},
                         {"language", "str, optional"}})})},
       {"tools", all_tool_schemas()},
       {"observation", Value::map({{"task", "map"},
                                   {"messages", "list of {role, content}: new ones of this turn"},
                                   {"feedback", "str"},
                                   {"code", "str: the source that was judged"},
                                   {"turn", "int"},
                                   {"turns_left", "int"},
                                   {"seconds_left", "float or nil"},
                                   {"history", "list of {turn, outcome, speedup, reward}"},
                                   {"best_speedup", "float or nil"},
                                   {"tools_left", "map: uses of each tool, if there are any"}})},
       {"options", describe_settings(options_)}});
}

Value KernelRefine::first_observation(const EpisodeView& view) const {
  const std::vector<std::string> offered = languages(view);
  Value observation = Value::map(
      {{"task", task_for_client(view.task, view.backend)},
       {"messages",
        Value::array(
            {message("system", messages_.system(view.task, offered, view.backend)),
             message("user", messages_.task(view.task, offered, own(view), view.backend))})},
       {"feedback", ""}});
  add_turns(observation, view, rules(view), nullptr);
  const Value schemas = tool_schemas(own(view).tools, offered);
  if (!schemas.as_array().empty()) observation.set("tools", schemas);
  add_tools_left(observation, view, used_calls(view));
  return observation;
}

/// Adds the uses that are left in the observation's turns; nothing in an episode without tools.
void KernelRefine::add_tools_left(Value& observation, const EpisodeView& view,
                                  std::span<const CallFacts> calls) {
  Value left = tools_left(own(view).tools, calls, observation.find("turns_left")->as_int());
  if (!left.as_map().empty()) observation.set("tools_left", std::move(left));
}

Result<ToolCall> KernelRefine::prepare_call(const EpisodeView& view, const Value& value) const {
  HONE_ASSIGN(Action action, read_action(value));
  const std::optional<Tool> tool = find_enum<Tool>(action.tool);
  if (!tool) {
    const auto& names = EnumNames<Tool>::kNames;
    return invalid_argument("step: action: " + unknown_name("tool", valid_utf8(action.tool),
                                                            {std::begin(names), std::end(names)}));
  }
  const auto turns_before = static_cast<std::int64_t>(view.turns.size());
  HONE_TRY(expect_use_left(*tool, own(view).tools, used_calls(view),
                           rules(view).max_turns - turns_before));
  if (tool == Tool::kHardware) return ToolCall{*tool, {languages(view).front(), ""}};
  HONE_ASSIGN(Prepared prepared, prepare_code(view, std::move(action)));
  if (const Verdict* refused = std::get_if<Verdict>(&prepared))
    return invalid_argument("step: action: " + refused->reason);
  return ToolCall{*tool, std::get<SubmittedCode>(std::move(prepared))};
}

Value KernelRefine::observe_call(const EpisodeView& view, const Value& action, Tool tool,
                                 const Examination& found) const {
  const std::int64_t turn = static_cast<std::int64_t>(view.turns.size()) + 1;
  const std::int64_t call = 1 + calls_in_turn(view.calls, turn);
  const CallFacts made{turn, call, std::string(enum_name(tool))};
  const std::int64_t turns = turns_of(own(view).tools, std::span(&made, 1));
  TurnRules after = rules(view);
  after.max_turns = std::max(after.max_turns - turns, turn - 1);
  const std::int64_t turns_left = after.max_turns - turn + 1;
  const bool has_verdict_only = found.verdict && found.facts.as_map().empty();
  std::string text, cost;
  if (has_verdict_only) {
    const TurnResult result{*found.verdict, {}, {}};
    text = messages_.feedback({view.task, languages(view), own(view), result, turns_left, false,
                               best_speedup(view.turns), view.backend});
  } else {
    text = facts_text(tool, found.facts);
  }
  while (text.ends_with('\n')) text.pop_back();
  if (turns > 0)
    cost = "\nThis call cost " + count(turns, "turn", "turns") +
           (has_verdict_only ? "."  // whose text has the turns that are left
                             : "; " + count(turns_left, "turn is", "turns are") + " left.");
  text = cut_end(valid_utf8(text), own(view).text_bytes_max() - cost.size()) + cost;
  const std::string id = "call_" + std::to_string(turn) + "_" + std::to_string(call);
  Value observation = Value::map({{"task", Value::map({{"id", view.task.id}})},
                                  {"messages", call_messages(id, tool, action, text)},
                                  {"feedback", text}});
  add_turns(observation, view, after, nullptr);
  std::vector<CallFacts> used = used_calls(view);
  used.push_back(made);
  add_tools_left(observation, view, used);
  return observation;
}

/// `language`: an offered one; empty: the first offered one.
Prepared KernelRefine::prepare_source(const EpisodeView& view, std::string source,
                                      std::string language) const {
  if (language.empty()) language = languages(view).front();
  std::string refused = refuse_source(source, options_.source_bytes_max);
  if (!refused.empty()) return refusal(Outcome::kRejected, std::move(refused), source);
  return SubmittedCode{std::move(language), std::move(source), own(view).profile};
}

Result<Prepared> KernelRefine::prepare(const EpisodeView& view, const Value& value) const {
  HONE_ASSIGN(const Action action, read_action(value));
  if (!action.tool.empty())
    return invalid_argument("step: action: found the tool " + valid_utf8(action.tool) +
                            " without 'call'; send the number of the call, from 1 in each turn");
  return prepare_code(view, action);
}

Result<Prepared> KernelRefine::prepare_code(const EpisodeView& view, Action action) const {
  const std::vector<std::string> offered = languages(view);
  const std::string named = language_of_tag(action.language);
  if (!named.empty() && std::find(offered.begin(), offered.end(), named) == offered.end()) {
    // A mistake of the client and not of the model, so it does not use up a turn.
    return invalid_argument(
        "step: action: " + unknown_name("language", valid_utf8(action.language), offered) +
        "; this task takes " + languages_text(offered));
  }
  if (!action.response) {
    if (action.text.find_first_not_of(" \t\r\n") == std::string::npos) {
      return Prepared(refusal(Outcome::kNoCode, "the code is empty", action.text));
    }
    return prepare_source(view, std::move(action.text), named);
  }
  if (action.text.size() > options_.response_bytes_max) {
    return Prepared(refusal(Outcome::kRejected,
                            "the response has " + std::to_string(action.text.size()) +
                                " bytes, at most " + std::to_string(options_.response_bytes_max) +
                                " are allowed",
                            action.text));
  }
  Extracted extracted = extract_code(action.text, view.task.entry, offered);
  if (!extracted.found) {
    return Prepared(refusal(Outcome::kNoCode, std::move(extracted.reason), action.text));
  }
  return prepare_source(view, std::move(extracted.code),
                        named.empty() ? extracted.language : named);
}

/// The submission as given. If it is too long or not valid text, a decodable part of it.
std::string KernelRefine::echo(const Value& action) const {
  const Result<Action> given = read_action(action);
  if (!given) return {};  // cannot happen: prepare() refuses such an action
  const std::size_t most =
      given->response ? options_.response_bytes_max : options_.source_bytes_max;
  return cut_middle(valid_utf8(given->text), most);
}

/// The judged source; empty if the turn had none.
std::string KernelRefine::source_of(const EpisodeView& view, const Value& action) const {
  const Result<Prepared> prepared = prepare(view, action);
  const SubmittedCode* candidate = prepared ? std::get_if<SubmittedCode>(&*prepared) : nullptr;
  return candidate == nullptr ? std::string() : candidate->source;
}

Value KernelRefine::observe(const EpisodeView& view, const Value& action,
                            const TurnResult& result) const {
  const std::vector<std::string> offered = languages(view);
  const Stop stopped = stop(view, result);
  const double best_before = best_speedup(view.turns);
  const auto turn = static_cast<std::int64_t>(view.turns.size()) + 1;
  const TurnRules now = rules(view);
  const std::int64_t turns_left = stopped.ended() ? 0 : now.max_turns - turn;
  std::string feedback = messages_.feedback({view.task, offered, own(view), result, turns_left,
                                             stopped.ended(), best_before, view.backend});

  Value observation = Value::map(
      {{"task", Value::map({{"id", view.task.id}})},
       {"messages", Value::array({message("assistant", echo(action)), message("user", feedback)})},
       {"feedback", std::move(feedback)},
       {"code", source_of(view, action)}});
  add_turns(observation, view, now, &result);
  add_tools_left(observation, view, used_calls(view));
  return observation;
}

}  // namespace
}  // namespace kernel_refine

std::vector<std::string> prompt_forms() { return {std::string(kZeroShot), std::string(kFewShot)}; }

Result<std::unique_ptr<Environment>> make_kernel_refine(KernelRefineOptions options) {
  if (options.templates.empty()) {
    options.templates = install_root() / "share/templates/kernel_refine";
  }
  HONE_ASSIGN(kernel_refine::Messages messages,
              kernel_refine::Messages::load(options.templates, options.own_templates));
  return std::unique_ptr<Environment>(
      std::make_unique<kernel_refine::KernelRefine>(std::move(options), std::move(messages)));
}

}  // namespace hone
