// Scores sample episodes with a reward, for `hone verdicts --reward`.
#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"
#include "conformance/verdict_fixtures.hpp"
#include "terminal/terminal.hpp"

namespace hone {

struct SampleScoreRequest {
  std::string reward;  ///< a name, or path of a .so or .py
  std::string with;    ///< its configuration as JSON; empty: the configured one
  bool json = false;
};

/// Prints a row for each turn. Returns an exit code: kExitNo if the reward fails for one sample.
int score_samples(Terminal& terminal, Config config,
                  const std::vector<const VerdictFixture*>& samples,
                  const SampleScoreRequest& request);

}  // namespace hone
