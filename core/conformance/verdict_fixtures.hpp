// Verdict fixtures: small named episodes on which the author of a reward can try it.
#pragma once

#include <string>
#include <vector>

#include "model/value.hpp"
#include "model/verdict.hpp"

namespace hone {

struct VerdictFixture {
  std::string name;     ///< "build_failed"
  std::string summary;  ///< one line
  Value episode;        ///< the map of docs/plugins.md that score() gets
};

/// Every outcome alone, slow and fast submissions, and episodes of several turns. Always the same.
const std::vector<VerdictFixture>& verdict_fixtures();

// Building blocks of the fixtures.

/// A verdict in the judge's form. `speedup` is used only if it is correct; 0: not measured.
Verdict sample_verdict(Outcome outcome, double speedup);
Value sample_turn(const Verdict& verdict);
Value sample_unscored_turn();  ///< after a fault of the machine
/// Numbers the turns from 1. An episode that has not ended has two more turns left.
Value sample_episode(Value::Array turns, bool ended);

}  // namespace hone
