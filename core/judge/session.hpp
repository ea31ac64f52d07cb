// Session: judges one submission of one task: checks it, times it, and computes its speedup.
#pragma once

#include <memory>

#include "judge/checking/answer_checker.hpp"
#include "judge/checking/checker.hpp"
#include "judge/session_input.hpp"
#include "judge/timing/contention.hpp"
#include "judge/timing/protocol.hpp"
#include "judge/timing/round_clock.hpp"
#include "judge/timing/speedup.hpp"
#include "judge/timing/timings.hpp"
#include "judge_protocol/judgement.hpp"

namespace hone {

/// One submission, one thread.
///
///   load the submission into `runner`
///   return Session({task, seed, settings, reference, baseline, runner, workbench, host}).judge();
class Session {
 public:
  explicit Session(SessionInput input);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Checks the submission, then times it.
  Judgement judge();

 private:
  Judgement measure();

  const SessionInput input_;
  const SpeedupRules rules_;
  AnswerChecker answers_;
  Checker checker_;
  Timings timings_;
  Contention contention_;
  RoundClock clock_;
  const std::unique_ptr<Protocol> protocol_;
};

}  // namespace hone
