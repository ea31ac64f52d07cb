// measure_idle(): memory use of open episodes with two turns, for `hone bench idle` and a test.
#pragma once

#include <cstddef>

#include "base/result.hpp"
#include "episode/service.hpp"

namespace hone {

struct IdleFigure {
  std::size_t episodes = 0;
  std::size_t resident_before = 0;  ///< memory of the process before the first episode (bytes)
  std::size_t resident_after = 0;
  std::size_t history_bytes =
      0;  ///< stored replies: code, feedback, verdicts. With a journal they may leave memory

  double bytes_each() const;            ///< resident bytes of one episode
  double bytes_beyond_history() const;  ///< the same without its history; this figure has a goal
};

/// Opens `episodes` episodes, plays two turns of each with a source of `source_bytes`, and leaves them open.
/// `reset` is the body of each reset. The evaluator should be a ScriptedEvaluator that answers at once.
/// Returns the service's first error, if any.
Result<IdleFigure> measure_idle(EpisodeService& service, std::size_t episodes, const Value& reset,
                                std::size_t source_bytes = 1000);

}  // namespace hone
