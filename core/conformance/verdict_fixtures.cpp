// Builds the fixtures from verdicts in the judge's form.
#include "conformance/verdict_fixtures.hpp"

#include <initializer_list>
#include <utility>

namespace hone {
namespace {

std::string reason_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kNoCode:
      return "the response holds no code";
    case Outcome::kRejected:
      return "a source of 300000 bytes, at most 262144 allowed";
    case Outcome::kBuildFailed:
      return "the compiler found errors";
    case Outcome::kCrashed:
      return "signal SIGSEGV in a check of shape n=1000";
    case Outcome::kTimedOut:
      return "no answer after 10 s in a check of shape n=1000";
    case Outcome::kOutOfMemory:
      return "more than 1024 MB in a check of shape n=1000";
    case Outcome::kWrong:
      return "10 of 1000 elements of out are wrong in shape n=1000";
    case Outcome::kCheated:
      return "outputs were written before the clock started";
    case Outcome::kCorrect:
      break;
  }
  return "";
}

VerdictStage stage_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kNoCode:
    case Outcome::kRejected:
      return VerdictStage::kResponse;
    case Outcome::kBuildFailed:
      return VerdictStage::kBuild;
    case Outcome::kCheated:
      return VerdictStage::kMeasure;
    case Outcome::kCorrect:
      return VerdictStage::kDone;
    default:
      return VerdictStage::kCheck;
  }
}

Value one(Outcome outcome, double speedup = 0) {
  return sample_episode({sample_turn(sample_verdict(outcome, speedup))}, false);
}

Value flagged() {
  Verdict verdict = sample_verdict(Outcome::kCorrect, 2);
  verdict.speedup->low = 1.1;
  verdict.speedup->high = 3.4;
  verdict.speedup->flags = {"noisy"};
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
  return {
      {"no_code", "the model's response held no code", one(Outcome::kNoCode)},
      {"rejected", "refused before it was built", one(Outcome::kRejected)},
      {"does_not_compile", "the compiler said no", one(Outcome::kBuildFailed)},
      {"crashed", "a signal in a check", one(Outcome::kCrashed)},
      {"timed_out", "over the task's time", one(Outcome::kTimedOut)},
      {"out_of_memory", "over the task's memory", one(Outcome::kOutOfMemory)},
      {"wrong", "some answers are wrong", one(Outcome::kWrong)},
      {"cheated", "a measurement that only cheating explains", one(Outcome::kCheated)},
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
       several({v(Outcome::kCorrect, 3), v(Outcome::kWrong, 0), v(Outcome::kCorrect, 3)}, true)},
      {"standstill", "the same correct kernel three times",
       several({v(Outcome::kCorrect, 1.5), v(Outcome::kCorrect, 1.5), v(Outcome::kCorrect, 1.5)},
               false)},
      {"fault_between", "fast, a fault of the machine, fast: the end",
       sample_episode({fast, fault, fast}, true)},
  };
}

}  // namespace

Verdict sample_verdict(Outcome outcome, double speedup) {
  Verdict v;
  v.outcome = outcome;
  v.reason = reason_of(outcome);
  v.stage = stage_of(outcome);
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
