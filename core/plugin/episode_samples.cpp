// Building the sample episodes from verdicts as the judge writes them.
#include "plugin/episode_samples.hpp"

#include "model/verdict.hpp"

namespace hone {
namespace {

constexpr Outcome kOutcomes[] = {Outcome::kNoCode,  Outcome::kRejected, Outcome::kBuildFailed,
                                 Outcome::kCrashed, Outcome::kTimedOut, Outcome::kOutOfMemory,
                                 Outcome::kWrong,   Outcome::kCheated,  Outcome::kCorrect};

Verdict verdict(Outcome outcome, double speedup) {
  Verdict v;
  v.outcome = outcome;
  v.reason = "a sample";
  v.stage = outcome == Outcome::kCorrect       ? "done"
            : outcome == Outcome::kBuildFailed ? "build"
                                               : "check";
  v.fingerprint = "sample";
  v.source_hash = std::string(64, '0');
  v.stage_ms = {{"build", 120.5}, {"total", 480.0}};
  if (outcome == Outcome::kCrashed) v.signal = "SIGSEGV";
  if (outcome == Outcome::kBuildFailed) v.diagnostics = "submission.cpp:1:1: error: expected ';'";
  if (outcome == Outcome::kWrong) {
    v.mismatch = Mismatch{"out", "n=1000", "normal", {7}, 1.0, 2.0, 1e-5, 990, 1000, 1};
  }
  if (outcome == Outcome::kCorrect) {
    v.speedup = Speedup{speedup, speedup * 0.98, speedup * 1.02, 100 / speedup, 100, 20, 64, {}};
  }
  return v;
}

Value scored(const Verdict& v) {
  return Value::map({{"turn", 0}, {"scored", true}, {"verdict", verdict_to_value(v)}});
}

Value unscored() { return Value::map({{"turn", 0}, {"scored", false}, {"verdict", nullptr}}); }

Value episode(Value::Array turns, bool ended) {
  for (std::size_t i = 0; i < turns.size(); ++i) turns[i].set("turn", i);
  const std::size_t max_turns = ended ? turns.size() : turns.size() + 2;
  return Value::map({{"task", Value::map({{"dataset", "samples"}, {"id", "add_relu"}})},
                     {"ended", ended},
                     {"max_turns", max_turns},
                     {"turns", Value(std::move(turns))}});
}

}  // namespace

std::vector<Value> episode_samples() {
  std::vector<Value> samples;
  Value::Array all, many;
  for (const Outcome outcome : kOutcomes) {
    samples.push_back(episode({scored(verdict(outcome, 1.5))}, false));
    all.push_back(scored(verdict(outcome, 1.5)));
  }
  samples.push_back(episode(all, true));
  for (const double speedup : {1e-6, 0.5, 1.0, 1.01, 2.0, 250.0}) {
    samples.push_back(episode({scored(verdict(Outcome::kCorrect, speedup))}, true));
  }
  Verdict unmeasured = verdict(Outcome::kCorrect, 1);
  unmeasured.speedup.reset();
  samples.push_back(episode({scored(unmeasured)}, true));
  const Value correct = scored(verdict(Outcome::kCorrect, 1.2));
  samples.push_back(episode({unscored()}, false));
  samples.push_back(episode({unscored(), correct}, false));
  samples.push_back(episode({correct, unscored()}, true));
  samples.push_back(episode({correct, unscored(), unscored(), correct}, true));
  for (int i = 0; i < 200; ++i) {
    many.push_back(i % 7 == 3 ? unscored() : scored(verdict(kOutcomes[i % 9], 0.5 + 0.01 * i)));
  }
  samples.push_back(episode(many, true));
  return samples;
}

}  // namespace hone
