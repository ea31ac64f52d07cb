// Measurement settings, sent to the judge with every job: the limits of the host's configuration, and the switches of this job.
#pragma once

#include <cstdint>

#include "judge_protocol/defences.hpp"

namespace hone {

struct MeasureSettings {
  bool measure = true;                ///< false: correctness only
  bool shown_only = false;            ///< checks no hidden shape: for the tool `check`
  double round_ms = 4;                ///< target duration of a round (ms)
  int pairs_min = 7, pairs_max = 15;  ///< A·B pairs
  double seconds_max = 1.5;           ///< target duration of a measurement
  std::int64_t set_mb = 96;           ///< memory for the inputs and outputs of a round
  int single_call_pairs = 5;          ///< pairs of single-call rounds
  /// Widest interval of a speedup, relative to it, if the baseline's own rounds vary as well; 0: any. With a wider one hone
  /// measures again, then reports a fault.
  double max_interval = 0;
  double submission_seconds = 60;  ///< a submission may take for all its rounds together
  /// Added to the task's limit for slow calls (judge/call_limit.hpp): for each call, and for the first one.
  double added_call_seconds = 0, added_first_seconds = 0;
  bool swapped = false;  ///< a confirmation run: the sides change places
  bool marked = false;   ///< ask the device's own clock of the baseline, too: for comparison
  Defences defences;     ///< all, but in test builds

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit) {
    visit("measure", self.measure);
    visit("shown_only", self.shown_only);
    visit("round_ms", self.round_ms, 0.1, 1000);
    visit("pairs_min", self.pairs_min, 3, 1000);
    visit("pairs_max", self.pairs_max, 3, 1000);
    visit("seconds_max", self.seconds_max, 0.01, 600);
    visit("set_mb", self.set_mb, 1, 65536);
    visit("single_call_pairs", self.single_call_pairs, 0, 100);
    visit("max_interval", self.max_interval, 0, 1e6);
    visit("submission_seconds", self.submission_seconds, 0.1, 86400);
    visit("added_call_seconds", self.added_call_seconds, 0, 3600);
    visit("added_first_seconds", self.added_first_seconds, 0, 3600);
    visit("swapped", self.swapped);
    visit("marked", self.marked);
    visit("off", self.defences);
  }
};

}  // namespace hone
