// bench_protocol(): overhead of the host over plain ZeroMQ, for `hone bench protocol`.
#pragma once

#include <cstddef>

#include "base/result.hpp"
#include "episode/episodes.hpp"
#include "model/value.hpp"

namespace hone {

struct ProtocolBenchOptions {
  OpenReward open_reward;  ///< required: `registry.open_reward`
  std::string reward = "tritonforge";
  std::size_t rounds = 5;  ///< alternations of host and echo; the median ratio is reported
  std::size_t steps =
      2000;  ///< steps in each round, one at a time; four times as many with 64 in flight
  std::size_t episodes = 1000;  ///< open episodes while p50 and p99 are measured
};

/// Two kinds of step, through a DEALER over TCP, the Server and the episode service, against a bare
/// ROUTER that sends back a body of the same size. *No-op*: the repeat of a step that is done,
/// which changes nothing; the goals are about this one. *With verdict and reward*: a new step whose
/// evaluation takes no time; all else of a step is in it (the environment, the reward plugin over
/// all turns so far, the history). And the first kind again with CURVE, against the same without.
/// About ten seconds.
///
/// A list of {"name", "value", "unit", "baseline", "ratio", "goal", "holds"}; goal and holds are
/// nil for figures without a goal. An error is the first that a step was answered with.
Result<Value> bench_protocol(const ProtocolBenchOptions& options);

/// Only the figures with CURVE: no-op steps with it and without, alternately.
Result<Value> bench_curve(const ProtocolBenchOptions& options);

}  // namespace hone
