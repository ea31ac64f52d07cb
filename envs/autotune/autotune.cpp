// The state machine of autotune: turns a choice into a source, and reports measurements.
#include "autotune/autotune.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

#include "autotune/product.hpp"
#include "autotune/space.hpp"
#include "base/crypto.hpp"
#include "base/utf8.hpp"

namespace hone {
namespace autotune {
namespace {

constexpr std::string_view kTag = "autotune";

struct AutotuneSettings final : Settings {
  TurnRules rules;
};

/// A parsed action: a choice, or an explanation.
struct Read {
  std::optional<Choice> choice;
  std::string text;  ///< the action's text, if it was text
  Outcome outcome = Outcome::kNoCode;
  std::string reason;
};

/// Rationale: a mistake in a choice by a program is an error, and the program may retry. A mistake in a
/// model's text uses up its turn.
Result<Read> read_action(const Value& action, std::size_t text_bytes_max) {
  Fields f(action, "step: action");
  const Value* choice = f.value_or_null("choice");
  const bool index = f.value_or_null("index") != nullptr;
  const std::int64_t number = index ? f.integer("index", 0, space_size() - 1) : 0;
  const bool code = f.value_or_null("code") != nullptr;
  const bool response = f.value_or_null("response") != nullptr;
  Read read;
  for (const char* key : {"code", "response"}) read.text += f.text_or(key, "", SIZE_MAX);
  static_cast<void>(
      f.text_or("language", "", 64));  // clients may name a language; there is only one
  HONE_TRY(f.finish());
  if ((choice != nullptr) + index + code + response != 1) {
    return invalid_argument(
        "step: action: expected one of 'choice', 'index', 'response' and 'code'");
  }
  if (choice != nullptr || index) {
    auto made = index ? Choice::from_index(number) : Choice::from_value(*choice);
    if (!made) return made.error().in("step: action");
    read.choice = *made;
    return read;
  }
  if (read.text.size() > text_bytes_max) {
    read.outcome = Outcome::kRejected;
    read.reason = "the response has " + std::to_string(read.text.size()) + " bytes, at most " +
                  std::to_string(text_bytes_max) + " are allowed";
    return read;
  }
  const auto found = Choice::from_text(read.text);
  if (found) {
    read.choice = *found;
  } else {
    read.outcome = found.error().code == Code::kNotFound ? Outcome::kNoCode : Outcome::kRejected;
    read.reason = valid_utf8(found.error().message);
  }
  return read;
}

Value message(const char* role, std::string content) {
  return Value::map({{"role", role}, {"content", std::move(content)}});
}

std::string figure(const char* format, double number) {
  char text[64];
  std::snprintf(text, sizeof text, format, number);
  return text;
}

std::string rules_text() {
  std::string text =
      "Choose the parameters of a matrix multiplication, `c = a · b`. Answer with one JSON object "
      "with these members:\n";
  for (const Knob& knob : knobs()) {
    text += "\n- `" + std::string(knob.name) + "`: one of " + to_json(Value(knob.values)) + ". " +
            std::string(knob.doc) + ".";
  }
  return text;
}

/// The measurements of this turn; nil if there is none.
Value facts_of(const TurnResult& result, const Task& task) {
  if (!result.verdict || !result.verdict->speedup) return {};
  const Speedup& s = *result.verdict->speedup;
  const auto rate = [&task](double us) { return us > 0 ? flops_of(task) / us * 1e-3 : 0; };
  return Value::map({{"speedup", s.value},
                     {"low", s.low},
                     {"high", s.high},
                     {"time_us", s.time_us},
                     {"baseline_us", s.baseline_us},
                     {"gflops", rate(s.time_us)},
                     {"baseline_gflops", rate(s.baseline_us)}});
}

std::string feedback_of(const Read& read, const TurnResult& result, const Task& task) {
  if (!result.verdict) return "Not measured, through no fault of the choice: " + result.fault;
  if (!read.choice) return "No choice was taken: " + read.reason + ".";
  const Verdict& verdict = *result.verdict;
  const std::string which = read.choice->text();
  if (!verdict.correct()) {
    return which + ": " + std::string(outcome_name(verdict.outcome)) + ": " + verdict.reason;
  }
  if (!verdict.speedup) return which + ": correct, and not measured.";
  const Speedup& s = *verdict.speedup;
  return which + ": " + figure("%.2f", s.value) + " times as fast as the baseline (" +
         figure("%.2f", s.low) + " to " + figure("%.2f", s.high) +
         "): " + figure("%.1f", s.time_us) + " µs against " + figure("%.1f", s.baseline_us) +
         " µs, " + figure("%.1f", s.time_us > 0 ? flops_of(task) / s.time_us * 1e-3 : 0) +
         " GFLOP/s.";
}

class Autotune final : public Environment {
 public:
  explicit Autotune(AutotuneOptions options) : options_(options) {}

  std::string name() const override { return "autotune"; }
  bool takes(const TaskEntry& entry) const override {
    return std::find(entry.tags.begin(), entry.tags.end(), kTag) != entry.tags.end();
  }
  Value describe() const override;
  std::shared_ptr<const Settings> read_options(Fields& options, const Task& task,
                                               const std::string& backend) const override;
  std::int64_t turns_max(const Settings& settings) const override {
    return static_cast<const AutotuneSettings&>(settings).rules.max_turns;
  }
  Value first_observation(const EpisodeView& view) const override;
  Result<Prepared> prepare(const EpisodeView& view, const Value& action) const override;
  Stop stop(const EpisodeView& view, const TurnResult& result) const override {
    return decide_stop(rules(view), view.turns.size(), view.seconds_used, result);
  }
  Value observe(const EpisodeView& view, const Value& action,
                const TurnResult& result) const override;
  std::optional<double> seconds_used(const Settings& settings,
                                     const Value& observation) const override {
    return seconds_used_of(static_cast<const AutotuneSettings&>(settings).rules, observation);
  }

 private:
  static const TurnRules& rules(const EpisodeView& view) {
    return static_cast<const AutotuneSettings&>(view.settings).rules;
  }
  const AutotuneOptions options_;
};

Value Autotune::describe() const {
  return Value::map(
      {{"name", name()},
       {"max_turns", options_.rules.max_turns},
       {"actions",
        Value::array({Value::map({{"choice", "map: a value for every knob"}}),
                      Value::map({{"index", "int: which choice, from 0"}}),
                      Value::map({{"response", "str: its last {…} is the choice, as JSON"}}),
                      Value::map({{"code", "str: the same"}})})},
       {"space", describe_space()},
       {"observation", Value::map({{"task", "map"},
                                   {"messages", "list of {role, content}: new ones of this turn"},
                                   {"feedback", "str"},
                                   {"choice", "map or nil: of this turn"},
                                   {"index", "int or nil: the same as a number"},
                                   {"facts", "map or nil: what was measured"},
                                   {"turn", "int"},
                                   {"turns_left", "int"},
                                   {"seconds_left", "float or nil"},
                                   {"history", "list of {turn, outcome, speedup, reward}"},
                                   {"best_speedup", "float or nil"}})},
       {"options", describe_turn_rules(options_.rules)}});
}

std::shared_ptr<const Settings> Autotune::read_options(Fields& options, const Task& task,
                                                       const std::string& backend) const {
  auto settings = std::make_shared<AutotuneSettings>();
  settings->rules = read_turn_rules(options, options_.rules);
  options.adopt(check_product(task, backend));
  return settings;
}

Value Autotune::first_observation(const EpisodeView& view) const {
  Value extents = Value::map();
  for (const auto& [dim, extent] : view.task.timed) extents.set(dim, extent);
  std::string task = view.task.description + "\nTimed with " + to_json(extents) +
                     ". Turns: " + std::to_string(rules(view).max_turns) +
                     ". What counts is how many times as fast as the baseline it is.";
  Value observation = Value::map({{"task", task_for_client(view.task, view.backend)},
                                  {"messages", Value::array({message("system", rules_text()),
                                                             message("user", std::move(task))})},
                                  {"feedback", ""},
                                  {"choice", Value()},
                                  {"index", Value()},
                                  {"facts", Value()}});
  add_turns(observation, view, rules(view), nullptr);
  return observation;
}

Result<Prepared> Autotune::prepare(const EpisodeView& view, const Value& action) const {
  HONE_ASSIGN(Read read, read_action(action, options_.response_bytes_max));
  if (read.choice) return Prepared(SubmittedCode{"c++", source_of(*read.choice, view.task)});
  Verdict verdict;
  verdict.outcome = read.outcome;
  verdict.stage = VerdictStage::kResponse;
  verdict.reason = std::move(read.reason);
  verdict.source_hash = sha256_hex(read.text);
  return Prepared(std::move(verdict));
}

Value Autotune::observe(const EpisodeView& view, const Value& action,
                        const TurnResult& result) const {
  const Result<Read> given = read_action(action, options_.response_bytes_max);
  const Read read =
      given ? *given : Read();  // cannot be an error: prepare() refuses malformed actions
  std::string feedback = feedback_of(read, result, view.task);
  std::string said = read.text.empty() && read.choice
                         ? to_json(read.choice->value())
                         : cut_middle(valid_utf8(read.text), options_.response_bytes_max);
  Value observation = Value::map({{"task", Value::map({{"id", view.task.id}})},
                                  {"messages", Value::array({message("assistant", std::move(said)),
                                                             message("user", feedback)})},
                                  {"feedback", std::move(feedback)},
                                  {"choice", read.choice ? read.choice->value() : Value()},
                                  {"index", read.choice ? Value(read.choice->index()) : Value()},
                                  {"facts", facts_of(result, view.task)}});
  add_turns(observation, view, rules(view), &result);
  return observation;
}

}  // namespace
}  // namespace autotune

std::unique_ptr<Environment> make_autotune(AutotuneOptions options) {
  return std::make_unique<autotune::Autotune>(options);
}

}  // namespace hone
