// Builds the fixtures from verdicts in the judge's form.
#include "conformance/verdict_fixtures.hpp"

#include <initializer_list>
#include <utility>

#include "model/flags.hpp"

namespace hone {
namespace {

Value one(Outcome outcome, double speedup = 0) {
  return sample_episode({sample_turn(sample_verdict(outcome, speedup))}, false);
}

Value flagged() {
  Verdict verdict = sample_verdict(Outcome::kCorrect, 2);
  verdict.speedup->low = 1.1;
  verdict.speedup->high = 3.4;
  verdict.speedup->add_flag(flags::kNoisy);
  return sample_episode({sample_turn(verdict)}, false);
}

Value several(std::initializer_list<Verdict> verdicts, bool ended) {
  Value::Array turns;
  for (const Verdict& verdict : verdicts) turns.push_back(sample_turn(verdict));
  return sample_episode(std::move(turns), ended);
}

std::vector<VerdictFixture> make_fixtures() {
  const auto v = sample_verdict;
  const Value fast = sample_turn(v(Outcome::kCorrect, 3)), fault = sample_unscored_turn();
  std::vector<VerdictFixture> fixtures;
  for (const OutcomeRow& row : kOutcomes) {
    if (row.outcome == Outcome::kCorrect) continue;
    fixtures.push_back({std::string(row.name), std::string(row.meaning), one(row.outcome)});
  }
  fixtures.insert(
      fixtures.end(),
      std::initializer_list<VerdictFixture>{
          {"unmeasured", "correct, but its speed could not be measured", one(Outcome::kCorrect)},
          {"slow", "correct, at half the baseline's speed", one(Outcome::kCorrect, 0.5)},
          {"as_fast", "correct, as fast as the baseline", one(Outcome::kCorrect, 1)},
          {"fast", "correct, three times as fast", one(Outcome::kCorrect, 3)},
          {"very_fast", "correct, a hundred times as fast", one(Outcome::kCorrect, 100)},
          {"flagged", "correct and twice as fast, but noisy: from 1.1 to 3.4", flagged()},
          {"unscored", "a fault of the machine: it must not count", sample_episode({fault}, false)},
          {"climb", "does not compile, wrong, slow, fast: the end",
           several({v(Outcome::kBuildFailed, 0), v(Outcome::kWrong, 0), v(Outcome::kCorrect, 0.5),
                    v(Outcome::kCorrect, 3)},
                   true)},
          {"fall_back", "fast, then wrong, then fast again: the end",
           several({v(Outcome::kCorrect, 3), v(Outcome::kWrong, 0), v(Outcome::kCorrect, 3)},
                   true)},
          {"standstill", "the same correct kernel three times",
           several(
               {v(Outcome::kCorrect, 1.5), v(Outcome::kCorrect, 1.5), v(Outcome::kCorrect, 1.5)},
               false)},
          {"fault_between", "fast, a fault of the machine, fast: the end",
           sample_episode({fast, fault, fast}, true)},
      });
  return fixtures;
}

}  // namespace

Verdict sample_verdict(Outcome outcome, double speedup) {
  const OutcomeRow& row = kOutcomes[static_cast<std::size_t>(outcome)];
  Verdict v;
  v.outcome = outcome;
  if (outcome != Outcome::kCorrect) v.reason = row.meaning;
  v.stage = row.stage;
  v.fingerprint = "sample";
  v.source_hash = std::string(64, '0');
  v.stage_ms = {{"build", 120.5}, {"total", 480.0}};
  if (outcome == Outcome::kCrashed) v.signal = "SIGSEGV";
  if (outcome == Outcome::kBuildFailed) v.diagnostics = "submission.cpp:1:1: error: expected ';'";
  if (outcome == Outcome::kWrong) {
    v.mismatch = Mismatch{"out", "n=1000", "normal", {7}, 1.0, 2.0, 1e-5, 10, 1000, 1};
  }
  if (outcome == Outcome::kCorrect && speedup > 0) {
    v.speedup = Speedup{speedup, speedup * 0.98, speedup * 1.02, 100 / speedup, 100, 20, 64, {}};
  }
  return v;
}

Value sample_turn(const Verdict& verdict) {
  return Value::map({{"turn", 0}, {"scored", true}, {"verdict", verdict_to_value(verdict)}});
}

Value sample_unscored_turn() {
  return Value::map({{"turn", 0}, {"scored", false}, {"verdict", nullptr}});
}

Value sample_episode(Value::Array turns, bool ended) {
  for (std::size_t i = 0; i < turns.size(); ++i) turns[i].set("turn", i + 1);
  const std::size_t max_turns = ended ? turns.size() : turns.size() + 2;
  return Value::map({{"task", Value::map({{"dataset", "samples"}, {"id", "add_relu"}})},
                     {"ended", ended},
                     {"max_turns", max_turns},
                     {"turns", Value(std::move(turns))}});
}

const std::vector<VerdictFixture>& verdict_fixtures() {
  static const std::vector<VerdictFixture> fixtures = make_fixtures();
  return fixtures;
}

}  // namespace hone
