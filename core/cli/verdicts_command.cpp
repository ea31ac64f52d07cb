// `hone verdicts`: prints named sample episodes as a reward gets them, or their scores.
#include <algorithm>

#include "app/host.hpp"
#include "base/log.hpp"
#include "base/nearest.hpp"
#include "cli/command.hpp"
#include "conformance/verdict_fixtures.hpp"

namespace hone {
namespace {

std::string text_member(const Value& map, std::string_view key) {
  const Value* member = map.find(key);
  return member != nullptr && member->is_string() ? member->as_string() : "";
}

/// "correct 3×", "wrong", "unscored"
std::string turn_text(const Value& turn) {
  if (!turn.find("scored")->as_bool()) return "unscored";
  const Value& verdict = *turn.find("verdict");
  const Value* speedup = verdict.find("speedup");
  const std::string outcome = text_member(verdict, "outcome");
  if (speedup == nullptr || !speedup->is_map()) return outcome;
  return outcome + " " + short_number(speedup->find("value")->as_double()) + "×";
}

Value report_to_value(const RewardReport& report) {
  Value turns = Value::array(), returns = Value::array();
  for (const std::optional<TurnReward>& turn : report.turns) {
    Value components = Value::map();
    if (turn) {
      for (const auto& [name, part] : turn->components) components.set(name, part);
    }
    turns.push(turn ? Value::map({{"reward", turn->reward}, {"components", std::move(components)}})
                    : Value());
  }
  for (const std::optional<double>& one : report.returns) returns.push(one ? Value(*one) : Value());
  return Value::map({{"turns", std::move(turns)},
                     {"return", report.return_to_date},
                     {"returns", std::move(returns)}});
}

class VerdictsCommand : public Command {
 public:
  std::string name() const override { return "verdicts"; }
  std::string summary() const override {
    return "Print sample episodes for every verdict, or score them with a reward.";
  }
  std::vector<std::string> examples() const override {
    return {"hone verdicts                                  # names and descriptions",
            "hone verdicts climb --json                     # the complete input of a reward",
            "hone verdicts --reward my_reward.py            # scores of all samples",
            "hone verdicts --reward kevin --with '{\"gamma\": 1}' fast climb"};
  }
  void declare(OptionSet& options) override {
    options.texts({.name = "NAME", .doc = "only these samples"}, names_);
    options.text({.name = "--reward",
                  .doc = "score with this reward: a name, or path of a .so or .py",
                  .value = "FILE"},
                 reward_);
    options.text({.name = "--with", .doc = "configuration of the reward, as JSON", .value = "JSON"},
                 with_);
    config_.declare(options);
    options.flag({.name = "--list", .doc = "print only the names"}, list_);
    options.flag({.name = "--json", .doc = "print JSON: episodes, or scores with --reward"}, json_);
  }

  int run(Terminal& terminal) override {
    if (const Status chosen = choose(); !chosen) {
      return terminal.fail(chosen.error(), "list all samples: hone verdicts --list");
    }
    if (list_) {
      for (const VerdictFixture* fixture : chosen_) terminal.line(fixture->name);
      return kExitOk;
    }
    return reward_.empty() ? show(terminal) : score(terminal);
  }

 private:
  Status choose() {
    std::vector<std::string> known;
    for (const VerdictFixture& fixture : verdict_fixtures()) known.push_back(fixture.name);
    for (const std::string& wanted : names_) {
      if (std::find(known.begin(), known.end(), wanted) == known.end()) {
        return invalid_argument(unknown_name("sample", wanted, known));
      }
    }
    for (const VerdictFixture& fixture : verdict_fixtures()) {
      if (names_.empty() || std::find(names_.begin(), names_.end(), fixture.name) != names_.end()) {
        chosen_.push_back(&fixture);
      }
    }
    return {};
  }

  int show(Terminal& terminal) const {
    std::vector<Row> rows;
    Value listed = Value::array();
    for (const VerdictFixture* fixture : chosen_) {
      rows.push_back({{fixture->name, Colour::kBold},
                      {std::to_string(fixture->episode.find("turns")->as_array().size()),
                       Colour::kPlain, true},
                      {fixture->summary}});
      listed.push(Value::map(
          {{"name", fixture->name}, {"summary", fixture->summary}, {"episode", fixture->episode}}));
    }
    if (json_) {
      terminal.json(listed, 2);
    } else {
      terminal.table({"sample", "turns", "description"}, rows);
    }
    return kExitOk;
  }

  Result<std::unique_ptr<Reward>> open(Config config) const {
    choose_reward(config, reward_);
    if (!with_.empty()) {
      HONE_ASSIGN(config.reward.config, from_json(with_));
      if (!config.reward.config.is_map()) {
        return invalid_argument("--with: expected a JSON object, found " + with_);
      }
    }
    registry_ = open_registry(config);
    return open_reward(config, *registry_);
  }

  int score(Terminal& terminal) const {
    const auto loaded = load_config(config_.file, config_.sets);
    if (!loaded) return config_.fail(terminal, loaded.error());
    set_up_log(LogLevel::kInfo, false);  // the reward's own output helps its author
    const auto reward = open(loaded->config);
    if (!reward) return terminal.fail(reward.error(), "list all rewards: hone plugins");
    bool good = true;
    std::vector<Row> rows;
    Value listed = Value::array();
    for (const VerdictFixture* fixture : chosen_) {
      const auto report = (*reward)->score(fixture->episode);
      good = good && report.ok();
      listed.push(Value::map({{"name", fixture->name},
                              {"report", report ? report_to_value(*report) : Value()},
                              {"error", report ? Value() : Value(report.error().message)}}));
      add_rows(*fixture, report, rows);
    }
    if (json_) {
      terminal.json(listed, 2);
    } else {
      terminal.table({"sample", "turn", "verdict", "reward", "return", "components"}, rows);
      terminal.line();
      terminal.line((*reward)->name() + " " + (*reward)->version() + ", configuration " +
                    (*reward)->config_hash().substr(0, 12));
    }
    return good ? kExitOk : kExitNo;
  }

  static void add_rows(const VerdictFixture& fixture, const Result<RewardReport>& report,
                       std::vector<Row>& rows) {
    const Value::Array& turns = fixture.episode.find("turns")->as_array();
    for (std::size_t i = 0; i < turns.size(); ++i) {
      Row row{{i == 0 ? fixture.name : "", Colour::kBold},
              {std::to_string(i + 1), Colour::kPlain, true},
              {turn_text(turns[i])}};
      if (!report) {
        row.insert(row.end(), {{"failed", Colour::kRed, true},
                               {""},
                               {i == 0 ? report.error().message : "", Colour::kRed}});
      } else if (!report->turns[i]) {
        row.insert(row.end(), {{"–", Colour::kDim, true}, {"–", Colour::kDim, true}, {""}});
      } else {
        std::string parts;
        for (const auto& [name, part] : report->turns[i]->components) {
          parts += (parts.empty() ? "" : ", ") + name + " " + short_number(part);
        }
        row.insert(row.end(), {{short_number(report->turns[i]->reward), Colour::kPlain, true},
                               {short_number(*report->returns[i]), Colour::kPlain, true},
                               {parts, Colour::kDim}});
      }
      rows.push_back(std::move(row));
    }
  }

  ConfigOptions config_;
  std::vector<std::string> names_;
  std::string reward_, with_;
  bool list_ = false, json_ = false;
  std::vector<const VerdictFixture*> chosen_;
  mutable std::unique_ptr<const Registry> registry_;
};

}  // namespace

std::unique_ptr<Command> make_verdicts_command() { return std::make_unique<VerdictsCommand>(); }

}  // namespace hone
