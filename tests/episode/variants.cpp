// The environment that docs/environments-cpp.md shows, whole, as its own source: built and played by a test.
// docs: begin
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/utf8.hpp"
#include "common/turns.hpp"

namespace hone {

/// variants: an action picks one of a few sources by name.
class Variants final : public Environment {
 public:
  struct Chosen final : Settings {
    TurnRules rules;
  };
  explicit Variants(std::map<std::string, std::string> sources) : sources_(std::move(sources)) {}

  std::string name() const override { return "variants"; }
  Value describe() const override {
    return Value::map({{"name", name()},
                       {"max_turns", TurnRules().max_turns},
                       {"actions", Value::array({Value::map({{"pick", "str: a name"}})})},
                       {"options", describe_turn_rules({})}});
  }
  std::shared_ptr<const Settings> read_options(Fields& options, const Task&,
                                               const std::string&) const override {
    auto chosen = std::make_shared<Chosen>();
    chosen->rules = read_turn_rules(options, {});
    return chosen;
  }
  std::int64_t turns_max(const Settings& settings) const override {
    return static_cast<const Chosen&>(settings).rules.max_turns;
  }
  Value first_observation(const EpisodeView& view) const override {
    return observation(view, nullptr, "Pick a source.");
  }
  Result<Prepared> prepare(const EpisodeView&, const Value& action) const override {
    Fields f(action, "step: action");
    const std::string pick = f.text("pick", 64);
    HONE_TRY(f.finish());  // the caller's mistake: the turn stays open
    const auto found = sources_.find(pick);
    if (found != sources_.end()) return Prepared(SubmittedCode{"c++", found->second});
    Verdict verdict;  // the player's mistake: a turn, and a reward
    verdict.outcome = Outcome::kNoCode;
    verdict.stage = VerdictStage::kResponse;
    verdict.reason = "no source is called '" + valid_utf8(pick) + "'";
    return Prepared(std::move(verdict));
  }
  Stop stop(const EpisodeView& view, const TurnResult& result) const override {
    return decide_stop(rules(view), view.turns.size(), view.seconds_used, result);
  }
  Value observe(const EpisodeView& view, const Value&, const TurnResult& result) const override {
    return observation(view, &result,
                       result.verdict ? std::string(outcome_name(result.verdict->outcome))
                                      : "not judged: " + result.fault);
  }

 private:
  static const TurnRules& rules(const EpisodeView& view) {
    return static_cast<const Chosen&>(view.settings).rules;
  }
  static Value observation(const EpisodeView& view, const TurnResult* result, std::string words) {
    Value seen = Value::map(
        {{"messages", Value::array({Value::map({{"role", "user"}, {"content", words}})})},
         {"feedback", std::move(words)}});
    add_turns(seen, view, rules(view), result);
    return seen;
  }
  const std::map<std::string, std::string> sources_;
};

std::unique_ptr<Environment> make_variants(std::map<std::string, std::string> sources) {
  return std::make_unique<Variants>(std::move(sources));
}

}  // namespace hone
// docs: end
