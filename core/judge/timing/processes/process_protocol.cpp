#include "judge/timing/processes/process_protocol.hpp"

#include <utility>

#include "judge/timing/paired.hpp"
#include "judge/timing/processes/before_and_after.hpp"
#include "judge/timing/processes/stored_rounds.hpp"
#include "judge/timing/processes/withheld_timer.hpp"

namespace hone {

/// In a test build without the defence `alone` a module is timed in pairs, like code without host code.
std::unique_ptr<Protocol> make_process_protocol(const Measurement& measurement) {
  if (measurement.input.holds(Defence::kAlone))
    return std::make_unique<BeforeAndAfter>(measurement);
  auto timer = std::make_unique<WithheldTimer>(measurement);
  auto supply = std::make_unique<StoredRounds>(measurement, *timer, Checks::kAtOnce);
  return std::make_unique<PairedProtocol>(measurement, std::move(timer), std::move(supply));
}

}  // namespace hone
