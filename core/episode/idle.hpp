// measure_idle(): what open episodes of two turns cost in memory, for `hone bench idle` and a test.
#pragma once

#include <cstddef>

#include "base/result.hpp"
#include "episode/service.hpp"

namespace hone {

struct IdleFigure {
  std::size_t episodes = 0;
  std::size_t resident_before = 0;  ///< bytes of the process, before the first was opened
  std::size_t resident_after = 0;
  std::size_t history_bytes =
      0;  ///< replies kept: code, feedback, verdicts; what may leave memory once journalled

  double bytes_each() const;            ///< resident, of one episode
  double bytes_beyond_history() const;  ///< the same without its history: the figure with a goal
};

/// Opens `episodes` of them on this service, plays two turns with a source of `source_bytes` each,
/// and leaves them open. `reset` is the body of each reset. The evaluator should be a
/// ScriptedEvaluator that does not hold. An error is the first that the service answered.
Result<IdleFigure> measure_idle(EpisodeService& service, std::size_t episodes, const Value& reset,
                                std::size_t source_bytes = 1000);

}  // namespace hone
