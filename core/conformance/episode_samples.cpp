// Builds sample episodes from verdicts in the judge's form.
#include "conformance/episode_samples.hpp"

#include "conformance/verdict_fixtures.hpp"

namespace hone {

std::vector<Value> episode_samples() {
  std::vector<Value> samples;
  Value::Array all, many;
  for (const OutcomeRow& row : kOutcomes) {
    samples.push_back(sample_episode({sample_turn(sample_verdict(row.outcome, 1.5))}, false));
    all.push_back(sample_turn(sample_verdict(row.outcome, 1.5)));
  }
  samples.push_back(sample_episode(all, true));
  for (const double speedup : {1e-6, 0.5, 1.0, 1.01, 2.0, 250.0}) {
    samples.push_back(
        sample_episode({sample_turn(sample_verdict(Outcome::kCorrect, speedup))}, true));
  }
  const Verdict unmeasured = sample_verdict(Outcome::kCorrect, 0);
  samples.push_back(sample_episode({sample_turn(unmeasured)}, true));
  const Value correct = sample_turn(sample_verdict(Outcome::kCorrect, 1.2));
  samples.push_back(sample_episode({sample_unscored_turn()}, false));
  samples.push_back(sample_episode({sample_unscored_turn(), correct}, false));
  samples.push_back(sample_episode({correct, sample_unscored_turn()}, true));
  samples.push_back(
      sample_episode({correct, sample_unscored_turn(), sample_unscored_turn(), correct}, true));
  for (std::size_t i = 0; i < 200; ++i) {
    const Outcome outcome = kOutcomes[i % std::size(kOutcomes)].outcome;
    many.push_back(i % 7 == 3
                       ? sample_unscored_turn()
                       : sample_turn(sample_verdict(outcome, 0.5 + 0.01 * static_cast<double>(i))));
  }
  samples.push_back(sample_episode(many, true));
  return samples;
}

Value later_outcome_sample() {
  Value verdict = verdict_to_value(sample_verdict(Outcome::kWrong, 0));
  Value later = sample_turn(sample_verdict(Outcome::kWrong, 0));
  later.set("verdict", verdict.set("outcome", "later_outcome"));
  return sample_episode({sample_turn(sample_verdict(Outcome::kCorrect, 1.5)), later}, true);
}

}  // namespace hone
