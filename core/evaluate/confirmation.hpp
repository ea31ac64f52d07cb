// Confirmation: which verdicts need a second run, and the final verdict of a step.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/mutex.hpp"
#include "model/task.hpp"
#include "model/verdict.hpp"

namespace hone {

/// Doubts a correct verdict if its speedup is above a configured one, above the best of its task by a factor, or close to
/// the limits of the hardware; or if it is a new best from a process that earlier submissions have used. [any thread]
///
///   if (std::string doubt = suspicions.doubt(task, first, bytes, kept_process); !doubt.empty())
///     verdict = final_verdict(first, judge_again());
class Suspicions {
 public:
  /// 0: no such limit; both 0: no verdict is doubted.
  Suspicions(double suspect_speedup, double suspect_factor)
      : speedup_(suspect_speedup), factor_(suspect_factor) {}

  /// The reason of the doubt, for the log; empty if the verdict counts. `bytes_per_second_max`: bandwidth of
  /// the cores or units that the task may use, caches included. `kept_process`: earlier submissions have used
  /// the process.
  std::string doubt(const Task& task, const Verdict& verdict, double bytes_per_second_max,
                    bool kept_process = false) const;
  /// Takes note of a final verdict, which may be the best of its task. Not stored across restarts.
  void remember(const Task& task, const Verdict& verdict);

 private:
  /// The best speedup of a task so far, and the upper end of its interval; at first 1, the baseline's speedup.
  struct Best {
    double value = 1, high = 1;
    bool is_exceeded_by(const Speedup& speedup) const;
  };

  const double speedup_, factor_;
  mutable Mutex mutex_;
  std::map<std::string, Best> best_ HONE_GUARDED_BY(mutex_);  ///< by dataset and task
};

/// The verdict of a step. `confirmation`: the verdict of the confirmation run, if there was one. Then the first counts if the
/// speedups agree by their values, else the verdict that failed, or the slower one. `kept_process`: earlier submissions have
/// used the first run's process; then the confirmation run counts.
///
/// Nothing is evaluated again after this. So an outcome that follows from the speedup or the flags of a correct verdict is
/// decided here: it can neither cause another evaluation nor make two runs disagree. Such a verdict must have
/// no speedup, because rewards and reports take a speedup for one of a correct submission. Write figures to `reason`.
Verdict final_verdict(Verdict first, std::optional<Verdict> confirmation = std::nullopt,
                      bool kept_process = false);

}  // namespace hone
