// Pairs of rounds of code on the CPU. Rounds end frozen.
#include <utility>

#include "judge/timing/paired.hpp"

namespace hone {
namespace {

class HostTimer : public RoundTimer {
 public:
  explicit HostTimer(const Measurement& m) : input_(m.input), clock_(m.clock) {}

  /// An empty round of the baseline, before its inputs are there and caches are evicted. A submission has no empty rounds: it
  /// would run with its inputs before the clock starts.
  Judgement before_baseline(const Side& side) override {
    return input_.holds(Defence::kFloorInPairs) ? clock_.empty_round(side) : correct_so_far();
  }

  Judgement time(const Side& side, const PreparedRound& prepared, double* seconds) override {
    if (Judgement loaded = clock_.load(side, prepared); !passed(loaded)) return loaded;
    if (const Status cold = clock_.make_cold(prepared.layout); !cold) return fault(cold.error());
    return clock_.run(side, prepared, seconds);
  }

 private:
  const SessionInput& input_;
  RoundClock& clock_;
};

/// Prepares and checks each round in its pair. The submission is frozen meanwhile.
class InPlaceSupply : public RoundSupply {
 public:
  explicit InPlaceSupply(const Measurement& m) : input_(m.input), answers_(m.answers) {}

  Result<PreparedRound> prepare(std::uint64_t secret, std::vector<std::size_t> families,
                                std::uint64_t at) override {
    return prepare_timed(input_, {secret, std::move(families), at});
  }

  Judgement check(PreparedRound timed) override {
    const Arena& outputs = input_.submission.arena();
    if (input_.holds(Defence::kWitness)) {
      if (Judgement settled = expect_settled(input_.submission, outputs); !passed(settled))
        return settled;
    }
    if (!input_.holds(Defence::kTimedAnswers)) return correct_so_far();
    return answers_.check_timed(std::move(timed), outputs);
  }

 private:
  const SessionInput& input_;
  const AnswerChecker& answers_;
};

}  // namespace

std::unique_ptr<Protocol> make_pairs_on_host(const Measurement& measurement) {
  return std::make_unique<PairedProtocol>(measurement, std::make_unique<HostTimer>(measurement),
                                          std::make_unique<InPlaceSupply>(measurement));
}

}  // namespace hone
