// TritonForge's reward: 0 unless built, 0.1 built, 0.3 correct instead, and up to 2 more for what
// is faster.
#include "common/returns.hpp"

namespace hone::rewards {
namespace {

class TritonForge {
 public:
  static RewardDescription describe() {
    // The bonus clip(s - 1, 0, 2) is a cap of 3 on the speedup.
    return {.summary = "0 not built, 0.1 built, 0.3 correct, plus clip(speedup - 1, 0, 2)",
            .source =
                "TritonForge, kernelbench_config.py and kernel_generator.py: gamma 0.4, the sum "
                "over a trajectory of 3 turns",
            .low = 0,
            .high = 2.3,
            .parameters = with_speedup_cap(shared_parameters(0.4, "sum"), 3)};
  }

  explicit TritonForge(const Config& config) : rules_(read_capped_rules(config)) {}

  RewardReport score(const Episode& episode) const {
    return score_turns(episode, rules_.returns, [this](const Turn& turn) {
      const double built = turn.built() && !turn.correct() ? 0.1 : 0;
      const double correct = turn.correct() ? 0.3 : 0;
      const double bonus = std::max(0.0, rules_.speedup(turn).value_or(0) - 1);
      return TurnScore{built + correct + bonus,
                       {{"built", built}, {"correct", correct}, {"speedup", bonus}}};
    });
  }

 private:
  Rules rules_;
};

}  // namespace
}  // namespace hone::rewards

HONE_EXPORT_REWARD(hone::rewards::TritonForge, "tritonforge", "2.0.0");
