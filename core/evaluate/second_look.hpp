// SecondLook: which winners look too good to be believed at once, and what two looks together say.
#pragma once

#include <map>
#include <string>

#include "base/mutex.hpp"
#include "model/task.hpp"
#include "model/verdict.hpp"

namespace hone {

/// Doubts a correct verdict whose speedup is above a configured one, or above the best that was
/// seen of its task by a factor, or close to what physics allows; or a new best of a process that has run others' code.
/// [any thread]
///
///   if (std::string doubt = looks.doubt(task, first, bytes, used); !doubt.empty())
///     verdict = settle(first, judge_again());
class SecondLook {
 public:
  /// 0: no such limit; both 0: nothing is ever doubted.
  SecondLook(double suspect_speedup, double suspect_factor)
      : speedup_(suspect_speedup), factor_(suspect_factor) {}

  /// Why, for the log; empty for what is believed.
  /// `bytes_per_second_max`: of what the device grants the task, caches included. `used`: the process had run others' code.
  std::string doubt(const Task& task, const Verdict& verdict, double bytes_per_second_max,
                    bool used = false) const;
  /// What was believed in the end may be the best of its task. Forgotten with the process.
  void remember(const Task& task, const Verdict& verdict);

 private:
  const double speedup_, factor_;
  mutable Mutex mutex_;
  std::map<std::string, double> best_ HONE_GUARDED_BY(mutex_);  ///< by dataset and task
};

/// The verdict that counts: the first where both agree, else the one that failed, or the slower. `used`: the first look
/// was had in a process that others' code has used, and the second, in a fresh one, is what counts.
Verdict settle(Verdict first, Verdict second, bool used = false);

}  // namespace hone
