// Pairs of rounds of code on a device, under host code of hone's own. Rounds end when the witness has read the outputs.
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

}  // namespace

std::unique_ptr<Protocol> make_pairs_on_device(const Measurement& measurement) {
  return std::make_unique<PairedProtocol>(measurement, std::make_unique<DeviceTimer>(measurement),
                                          make_supply(measurement));
}

}  // namespace hone
