// What a new baseline takes: calls of one round, rounds that do nothing, and the reference's exact answers.
#pragma once

#include <cstdint>

#include "judge/session.hpp"

namespace hone {

/// One task's, at its timed shape and first family. `task`, `reference` and `workbench` outlive it. One thread.
class BaselineTimes {
 public:
  static Result<BaselineTimes> make(const Task& task, std::uint64_t seed, Trusted reference,
                                    Workbench& workbench);

  /// A call that is not timed. Rationale: the first one sets libraries up, for up to half a second. On a device that can be
  /// done while others use it.
  Judgement call_once(Trusted& baseline) const;
  /// Finds `floor` and `call_seconds`; nobody else may use the device.
  Judgement time_calls(Trusted& baseline) const;
  /// Finds `answer_seconds`, where there is a device; nobody else may use it.
  Judgement time_answers(Trusted& baseline) const;

 private:
  BaselineTimes(const Task& task, std::uint64_t seed, Workbench& workbench, InputSet set,
                Layout layout);
  Judgement load_into(Trusted& baseline, std::uint64_t number) const;

  const Task* task_;
  std::uint64_t seed_;
  Workbench* workbench_;
  InputSet set_;
  Layout layout_;
};

/// All of it, one after the other.
Judgement calibrate(const Task& task, std::uint64_t seed, Trusted reference, Trusted& baseline,
                    Workbench& workbench);

}  // namespace hone
