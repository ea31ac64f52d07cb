// From Timings to a speedup, its interval and its flags. Pure functions.
//
// Theory of operation. A submission decides how long its own rounds take, so slower rounds must never help it. The number
// of rounds is planned from the baseline's time. Outliers lower the interval's lower end. What is subtracted from a round is
// the least empty round of the baseline's process. Where a figure is uncertain, a flag says so, and rewards pay the lower
// end.
#pragma once

#include <cstdint>
#include <vector>

#include "judge/timing/timings.hpp"
#include "judge_protocol/judgement.hpp"
#include "judge_protocol/settings.hpp"
#include "model/task.hpp"

namespace hone {

/// Computes speedups by the settings of one evaluation. Holds no state: the same timings give the same result.
class SpeedupRules {
 public:
  /// `bytes_per_second_max`: what the hardware can load and store. `seed` chooses the bootstrap's samples.
  SpeedupRules(const Task& task, const MeasureSettings& settings, double bytes_per_second_max,
               std::uint64_t seed);

  /// The outcome `correct` with its speedup, or `cheated` if a call was faster than the hardware can be.
  Judgement judge(const Timings& timings) const;
  /// Whether the baseline's own rounds vary too much to measure a speedup; false on a device.
  bool is_machine_noisy(const Timings& timings) const;
  /// Whether single-call rounds show less than long rounds. kPairs only.
  bool single_rounds_show_less(const Timings& timings) const;
  /// The floor that is subtracted from each round of a side.
  Floor subtracted_floor(const Timings& timings, bool of_baseline) const;

 private:
  void count_all_rounds(const Timings& timings, const std::vector<double>& baseline,
                        const std::vector<double>& submission, Speedup& speedup) const;
  void check_floor(const Timings& timings, double submission_call_s, Speedup& speedup) const;
  bool lower_to_single_rounds(const Timings& timings, Speedup& speedup) const;
  void add_flags(const Timings& timings, Speedup& speedup) const;

  std::uint64_t seed_;
  double max_interval_;
  Defences defences_;
  double moving_s_;      ///< of a call's tensors by the hardware; 0 if physics are not checked
  double least_call_s_;  ///< shortest time that a call counts for
};

/// Single-call rounds of kBlocks: how many times faster a call is than the baseline's, and whether the submission's call can
/// be told from an empty round. Differences below the rounds' spread count as that spread.
struct SingleCallBlocks {
  double ratio;
  bool is_distinguishable;
};
SingleCallBlocks compare_single_calls(const std::vector<double>& baseline,
                                      const std::vector<double>& submission,
                                      const std::vector<double>& floors);

/// Single-call rounds of kPairs. `ratio`: the best estimate. `high`: its upper bound, with the resolution of the clock and
/// with what the first call of a round takes more in hardware.
struct SingleCallPairs {
  double ratio, high;
};
SingleCallPairs single_speedup(const std::vector<double>& baseline,
                               const std::vector<double>& submission,
                               const std::vector<std::size_t>& families,
                               const Floor& baseline_floor, const Floor& submission_floor);

}  // namespace hone
