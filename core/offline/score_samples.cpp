// A reward that fails for one sample still scores the others.
#include "offline/score_samples.hpp"

#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "app/host.hpp"

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

/// The configuration with the request's reward.
Result<Config> with_reward(Config config, const SampleScoreRequest& request) {
  choose_reward(config, request.reward);
  if (!request.with.empty()) {
    HONE_ASSIGN(config.reward.config, from_json(request.with));
    if (!config.reward.config.is_map())
      return invalid_argument("--with: expected a JSON object, found " + request.with);
  }
  return config;
}

void add_rows(const VerdictFixture& fixture, const Result<RewardReport>& report,
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

}  // namespace

int score_samples(Terminal& terminal, Config config,
                  const std::vector<const VerdictFixture*>& samples,
                  const SampleScoreRequest& request) {
  const char* const next = "list all rewards: hone plugins";
  const auto chosen = with_reward(std::move(config), request);
  if (!chosen) return terminal.fail(chosen.error(), next);
  const auto registry = open_registry(*chosen);
  const auto reward = open_reward(*chosen, *registry);
  if (!reward) return terminal.fail(reward.error(), next);
  bool good = true;
  std::vector<Row> rows;
  Value listed = Value::array();
  for (const VerdictFixture* fixture : samples) {
    const auto report = (*reward)->score(fixture->episode);
    good = good && report.ok();
    listed.push(Value::map({{"name", fixture->name},
                            {"report", report ? report_to_value(*report) : Value()},
                            {"error", report ? Value() : Value(report.error().message)}}));
    add_rows(*fixture, report, rows);
  }
  if (request.json) {
    terminal.json(listed, 2);
  } else {
    terminal.table({"sample", "turn", "verdict", "reward", "return", "components"}, rows);
    terminal.line();
    terminal.line((*reward)->name() + " " + (*reward)->version() + ", configuration " +
                  (*reward)->config_hash().substr(0, 12));
  }
  return good ? kExitOk : kExitNo;
}

}  // namespace hone
