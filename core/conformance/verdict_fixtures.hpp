// Verdict fixtures: small episodes with a name each, as a reward gets them, for its author to try
// it on.
#pragma once

#include <string>
#include <vector>

#include "model/value.hpp"
#include "model/verdict.hpp"

namespace hone {

struct VerdictFixture {
  std::string name;     ///< "does_not_compile"
  std::string summary;  ///< one line
  Value episode;        ///< the map of docs/plugins.md that score() gets
};

/// Every outcome alone, slow and fast ones, and episodes of several turns. Always the same.
const std::vector<VerdictFixture>& verdict_fixtures();

// What they are made of.

/// A verdict as the judge writes it; `speedup` matters for a correct one alone, 0: not measured.
Verdict sample_verdict(Outcome outcome, double speedup);
Value sample_turn(const Verdict& verdict);
Value sample_unscored_turn();  ///< after a fault of the machine
/// Numbers the turns from 1, as episodes do; an episode that goes on has two more to come.
Value sample_episode(Value::Array turns, bool ended);

}  // namespace hone
