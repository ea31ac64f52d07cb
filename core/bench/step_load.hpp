// StepLoad: steps of many clients in new episodes, for benchmarks of a server.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "bench/client.hpp"

namespace hone {

struct StepLoad {
  std::string task;
  std::size_t steps;   ///< of each client, in each round
  std::size_t turns;   ///< of an episode
  std::size_t rounds;  ///< for the caller
  /// The source of the n-th step.
  std::function<std::string(std::size_t n)> source;
};

/// Plays one round. Returns steps per second. `waits_s` gets the time of each step. `unscored`, if given, is increased by the
/// number of unscored steps, and the rate then leaves these steps out.
Result<double> play(BenchCrowd& crowd, const StepLoad& load, std::vector<double>& waits_s,
                    std::size_t* unscored = nullptr);

/// Makes each source unique with a comment, so that caches do not apply.
std::function<std::string(std::size_t n)> numbered_steps(std::string source);

}  // namespace hone
