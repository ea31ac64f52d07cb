// The bare run that `hone bench step` compares with: the same inputs, checks and rounds as the
// judge's, with no isolation.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "judge/settings.hpp"
#include "model/task.hpp"
#include "model/value.hpp"
#include "plugin/backend.hpp"

namespace hone {

/// Artifacts as a builder makes them.
struct BareArtifacts {
  std::string submission, reference, baseline;
};

struct BareRun {
  double load_ms = 0, check_ms = 0, measure_ms = 0;
  bool correct = false;
  double speedup = 0;
};

/// Loads, checks and measures in this process: nothing is jailed, withheld, frozen or hidden.
Result<BareRun> run_bare(const Backend& backend, const Task& task, const BareArtifacts& artifacts,
                         std::uint64_t seed, const MeasureSettings& settings, double call_seconds);

}  // namespace hone
