#include "judge/timing/processes/process_rounds.hpp"

#include <utility>

#include "judge/fill.hpp"

namespace hone {

ProcessRounds::ProcessRounds(const Measurement& measurement)
    : m_(measurement), timer_(measurement), store_(measurement, timer_, Checks::kLater) {}

Side ProcessRounds::side_of(bool of_baseline, std::size_t calls) {
  const std::uint64_t secret = derive_seed(store_.next_secret(), "side");
  return of_baseline ? m_.clock.baseline(secret, calls) : m_.clock.submission(secret, calls);
}

Judgement ProcessRounds::time_submission(std::size_t calls, int coming, double* seconds) {
  if (store_.ahead().empty()) {
    if (Judgement ready = store_.prepare_ahead(calls, coming); !passed(ready)) return ready;
  }
  PreparedRound prepared = store_.take_next();
  const Side side = side_of(false, calls);
  if (Judgement judged = timer_.time(side, prepared, seconds); !passed(judged)) return judged;
  prepared.secret = side.secret;
  return store_.check(std::move(prepared));
}

}  // namespace hone
