// Polls a process' socket and the kernel's counts of its time.
#include "evaluate/await_answer.hpp"

#include <poll.h>

#include "base/clock.hpp"
#include "sandbox/starved_time.hpp"

namespace hone {

TimeLimit limit_reached(double own_s, double passed_s, double halted_s,
                        const AnswerLimits& limits) {
  if (own_s > limits.own_s) return TimeLimit::kOwn;
  if (passed_s - halted_s > limits.clock_s) return TimeLimit::kClock;
  return TimeLimit::kNone;
}

Waited await_answer(int socket, const Process& process, const AnswerLimits& limits) {
  constexpr int kPollMs = 25;  // as often as StarvedTime takes a sample
  StarvedTime starved(ProcessWatch(process.pid(), Watched::kTree, process.freeze_fd()));
  starved.begin();
  const double begun_s = monotonic_s();
  Waited waited;
  bool has_ended = false;
  while (!has_ended && waited.reached == TimeLimit::kNone) {
    pollfd polled[] = {{socket, POLLIN, 0}, {process.pidfd(), POLLIN, 0}};
    has_ended = ::poll(polled, 2, kPollMs) > 0;
    starved.sample();
    waited.passed_s = monotonic_s() - begun_s;
    waited.starved_s = starved.seconds();
    if (!has_ended)
      waited.reached = limit_reached(starved.own_s(), waited.passed_s, starved.halted_s(), limits);
  }
  return waited;
}

}  // namespace hone
