// Kevin-32B's reward: 0.3 for a correct kernel plus its speedup; nothing for anything else.
#include "common/returns.hpp"

namespace hone::rewards {
namespace {

class Kevin {
 public:
  static RewardDescription describe() {
    return {.summary = "0.3 if correct, plus the speedup if correct",
            .source =
                "Kevin-32B: gamma 0.4, each turn a sample with its own discounted sum of the "
                "turns to come; no cap, so that an outlier counts in full",
            .low = 0,
            .high = kUnbounded,
            .parameters = parameters()};
  }

  explicit Kevin(const Config& config)
      : rules_(read_capped_rules(config)), correct_(config.number("correct")) {}

  RewardReport score(const Episode& episode) const {
    return score_turns(episode, rules_.returns, [this](const Turn& turn) {
      const double correct = turn.correct() ? correct_ : 0;
      const double speedup = rules_.speedup(turn).value_or(0);
      return TurnScore{correct + speedup, {{"correct", correct}, {"speedup", speedup}}};
    });
  }

 private:
  static Parameters parameters() {
    Parameters all = with_speedup_cap(shared_parameters(0.4, "forward"), 0);
    all.push_back(
        number_parameter("correct", 0.3, 0, 1e6, "what a correct kernel earns by itself"));
    return all;
  }

  Rules rules_;
  double correct_;
};

}  // namespace
}  // namespace hone::rewards

HONE_EXPORT_REWARD(hone::rewards::Kevin, "kevin", "2.0.0");
