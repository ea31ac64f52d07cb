// Dr. Kernel's reward: half for correct, half of the capped speedup, half of the coverage where
// that is known.
#include "common/returns.hpp"

namespace hone::rewards {
namespace {

class DrKernel {
 public:
  static RewardDescription describe() {
    // Coverage is the share of profiled time spent in the submission's own kernels. A native kernel
    // has no such profile: the term is unknown, adds 0, and `coverage_known` says so.
    return {
        .summary = "0.5 if correct, plus 0.5 clip(speedup, 0, 3), plus 0.5 coverage where known",
        .source =
            "Dr. Kernel, calculate_reward_speedup: gamma 1, 3 turns, returns per turn; "
            "coverage is unknown for native kernels and then adds 0",
        .low = 0,
        .high = 2.5,
        .parameters = with_speedup_cap(shared_parameters(1, "forward"), 3)};
  }

  explicit DrKernel(const Config& config) : rules_(read_capped_rules(config)) {}

  RewardReport score(const Episode& episode) const {
    return score_turns(episode, rules_.returns, [this](const Turn& turn) {
      const double correct = turn.correct() ? 0.5 : 0;
      const double speedup = 0.5 * rules_.speedup(turn).value_or(0);
      return TurnScore{correct + speedup,
                       {{"correct", correct}, {"speedup", speedup}, {"coverage_known", 0}}};
    });
  }

 private:
  Rules rules_;
};

}  // namespace
}  // namespace hone::rewards

HONE_EXPORT_REWARD(hone::rewards::DrKernel, "dr_kernel", "1.0.0");
