// Pairs of rounds of code on a device, under host code of hone's own. Rounds end when the witness has read the outputs.
#include <utility>

#include "judge/timing/ahead_rounds.hpp"
#include "judge/timing/paired.hpp"

namespace hone {
namespace {

class DeviceTimer : public RoundTimer {
 public:
  explicit DeviceTimer(const Measurement& m) : clock_(m.clock) {}

  /// Both sides have an empty round right before the round. Those of the baseline are the floor.
  Judgement time(const Side& side, const PreparedRound& prepared, double* seconds) override {
    if (Judgement loaded = clock_.load(side, prepared); !passed(loaded)) return loaded;
    if (const Status cold = clock_.make_cold(prepared.layout); !cold) return fault(cold.error());
    if (Judgement empty = clock_.empty_round(side); !passed(empty)) return empty;
    return clock_.run(side, prepared, seconds);
  }

 private:
  RoundClock& clock_;
};

/// Neither side runs anything until this judge has the device for timing. Other judges wait while it times the pairs.
class PairsOnDevice : public PairedProtocol {
 public:
  /// `rounds` is the object that `supply` owns.
  PairsOnDevice(const Measurement& m, AheadRounds& rounds, std::unique_ptr<RoundSupply> supply)
      : PairedProtocol(m, std::make_unique<DeviceTimer>(m), std::move(supply)),
        contention_(m.contention),
        input_(m.input),
        rounds_(rounds) {}

  Judgement measure() override {
    if (Judgement ready = rounds_.prepare_ahead(sequence()); !passed(ready)) return ready;
    if (Judgement quiet = await_quiet(input_); !passed(quiet)) return quiet;
    if (Judgement still = contention_.expect_still_device(); !passed(still)) return still;
    if (Judgement timed = PairedProtocol::measure(); !passed(timed)) return timed;
    if (Judgement still = contention_.expect_still_device(); !passed(still)) return still;
    if (input_.host.share != nullptr) {
      if (const Status shared = input_.host.share(); !shared) return fault(shared.error());
    }
    return rounds_.check_copied();
  }

 private:
  Contention& contention_;
  const SessionInput& input_;
  AheadRounds& rounds_;  ///< owned by the base class
};

}  // namespace

std::unique_ptr<Protocol> make_pairs_on_device(const Measurement& measurement) {
  auto supply = std::make_unique<AheadRounds>(measurement);
  AheadRounds& rounds = *supply;
  return std::make_unique<PairsOnDevice>(measurement, rounds, std::move(supply));
}

}  // namespace hone
