// Timings: all that a measurement found, before anything is computed from it.
#pragma once

#include <cstddef>
#include <vector>

#include "judge/timing/round_times.hpp"

namespace hone {

/// The order of timed rounds.
enum class Schedule {
  kPairs,  ///< A·B B·A A·B …, each pair with inputs of its own: all code but that of kBlocks
  kBlocks  ///< several rounds of one side, then several of the other: modules with host code on a device
};

/// Times of whole rounds in seconds, without the delays that are excused. Plain data: protocols fill it, speedup.hpp reads it.
struct Timings {
  Schedule schedule = Schedule::kPairs;
  std::size_t calls = 0;                     ///< of a long round
  std::vector<double> baseline, submission;  ///< long rounds; those with the same index are a pair

  // Single-call rounds.
  std::vector<double> single_baseline, single_submission;
  std::vector<std::size_t> single_families;  ///< of inputs, for each of these rounds; kPairs only
  std::vector<double> single_floors;         ///< empty rounds before them; kBlocks only

  // Empty rounds of the baseline's process.
  std::vector<double> floors;
  std::vector<double> wall_floors;  ///< the same with delays
  Floor installed_floor;  ///< found when the baseline was installed; used if `floors` is empty

  std::vector<double> marked;  ///< of one call of the baseline, by the device's own clock

  // Facts.
  bool on_device = false;
  bool excuses_submission = false;  ///< the submission's delays were excused, like the baseline's
  bool cut_short = false;           ///< time ran out before all pairs were timed
  bool throttled = false;           ///< heat or power limited the device in rounds that count
  bool memory_short = false;  ///< the device cannot hold what both sides need at the same time
  bool drifted = false;       ///< the baseline's rounds before and after the submission disagree

  /// How much rounds have recorded in addition to their times, to drop a round that must not count.
  struct Mark {
    std::size_t floors = 0, marked = 0;
  };
  Mark mark() const { return {floors.size(), marked.size()}; }
  void drop_since(const Mark& mark);
  /// As drop_since, but keeps the empty rounds as those of single-call rounds.
  void keep_as_single_floors(const Mark& mark);
};

}  // namespace hone
