// The baseline's rounds between a module's, and whether the device was theirs alone.
#include <numeric>

#include "base/clock.hpp"
#include "judge/awake.hpp"
#include "judge/blame.hpp"
#include "judge/fill.hpp"
#include "judge/session.hpp"
#include "judge/statistics.hpp"

namespace hone {
namespace {

// How the device is looked at before and after the baseline's rounds: for a slice of the time that contexts share at the
// least, and before them for as long again as rounds take, or less. Longer rounds could have a kernel within them for sure.
constexpr double kLookSeconds = 2.2e-3, kLookMoreSeconds = 6e-3, kHiddenRoundSeconds = 6e-3;
constexpr double kShareTaken = 0.15, kShareOfAll = 0.08;  // 0.03 is seen where there is nobody
constexpr double kAwaySeconds = 1e-3, kNotAlone = 1e3;

}  // namespace

/// While the submission stands still, and with what will be its inputs.
Judgement Session::baseline_beside(const Posed& posed, double* seconds) {
  const auto stands = submission_.stand_still();
  if (!stands) return frozen_badly(stands.error(), "submission", "a measurement");
  if (!*stands) return blame({Ending::kDied, 0, {}}, "submission", "a measurement");
  const Awake awake(baseline_.runner);
  const Side side = side_of(true, posed.set.calls());
  // As long as nobody can foresee; and the device is busy then.
  const double more = draw(derive_seed(side.secret, "look"), 0, kLookMoreSeconds);
  if (Status looked = look_at_others(kLookSeconds + more); !looked) return fault(looked.error());
  if (Judgement judged = round(side, posed.set, posed.layout, seconds); !passed(judged))
    return judged;
  if (Status looked = look_at_others(kLookSeconds); !looked) return fault(looked.error());
  const Status thawed = submission_.thaw();
  return thawed ? correct_so_far() : fault(thawed.error());
}

/// What of the device somebody else has now.
Status Session::look_at_others(double seconds) {
  HONE_ASSIGN(const Workbench::Others others, workbench_.others_had(seconds));
  const bool taken =
      others.share == 0 || others.share > 1 + kShareTaken || others.away_s > kAwaySeconds;
  measured_.shares.push_back(taken ? kNotAlone : others.share);
  idle_since_s_ = monotonic_s();
  return {};
}

/// Whether the device was the baseline's alone in its rounds between the submission's. Rationale: a submission whose
/// process stands still can only have left something on the device. That takes turns with our own work there, or some of
/// the memory's speed; and it would have to begin and end within the baseline's rounds, every time, without knowing when
/// they begin. A second look does not take this for an answer.
bool Session::had_the_device() const {
  if (!settings_.defences.holds(Defence::kStandStill)) return true;
  return !settings_.swapped && median(measured_.a) < kHiddenRoundSeconds && !was_disturbed();
}

bool Session::was_disturbed() const {
  const std::vector<double>& shares = measured_.shares;
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  return sum > (1 + kShareOfAll) * static_cast<double>(shares.size());
}

}  // namespace hone
