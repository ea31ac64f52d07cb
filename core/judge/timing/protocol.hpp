// Protocol: the order in which a measurement times the rounds of both sides.
#pragma once

#include <memory>

#include "judge/blame.hpp"
#include "judge/checking/answer_checker.hpp"
#include "judge/session_input.hpp"
#include "judge/timing/contention.hpp"
#include "judge/timing/round_clock.hpp"
#include "judge/timing/speedup.hpp"
#include "judge/timing/timings.hpp"
#include "judge_protocol/judgement.hpp"

namespace hone {

/// What a protocol works with, and the timings that it fills. All of it outlives the protocol.
struct Measurement {
  const SessionInput& input;
  AnswerChecker& answers;
  Contention& contention;
  RoundClock& clock;
  const SpeedupRules& rules;
  Timings& timings;
};

/// One measurement. One thread.
class Protocol {
 public:
  virtual ~Protocol() = default;
  /// Fills the timings. Both sides are frozen.
  virtual Judgement measure() = 0;
};

/// The protocol for the submission's runner and the workbench:
///   code on the CPU                        pairs (paired_host.cpp)
///   code on a device without host code     pairs (paired_device.cpp)
///   a module with host code on a device    the baseline while the submission is frozen or gone (processes/)
std::unique_ptr<Protocol> make_protocol(const Measurement& measurement);

/// Waits for the device exclusively, until no context is being made on it. On a host there is nothing to wait for.
Judgement await_quiet(const SessionInput& input);
/// Whether single-call rounds are timed.
bool has_single_rounds(const SessionInput& input, const Timings& timings);

}  // namespace hone
