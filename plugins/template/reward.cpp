// my_reward: a bonus for every correct turn, and the logarithm of its speedup.
#include <algorithm>
#include <cmath>

#include "hone/plugin.hpp"

namespace {

using namespace hone::plugin;

class MyReward {
 public:
  // What `hone plugins` shows. The configuration is checked against the parameters before the
  // constructor runs.
  static RewardDescription describe() {
    return {.summary = "bonus for correct, plus log2 of the speedup from 0 to 4",
            .source = "the template",
            .low = 0,
            .high = 5,
            .parameters = {number_parameter("bonus", 1, 0, 1, "what correct is worth"),
                           number_parameter("gamma", 0.9, 0, 1, "discount per turn")}};
  }

  explicit MyReward(const Config& config)
      : bonus_(config.number("bonus")), gamma_(config.number("gamma")) {}

  // Called with the whole episode after every turn, on any thread. Turns that a fault of the
  // machine spoilt are left out.
  RewardReport score(const Episode& episode) const {
    return score_turns(
        episode, ReturnRule{.gamma = gamma_, .forward = true}, [this](const Turn& turn) {
          const double correct = turn.correct() ? bonus_ : 0;
          // estimate() is the lower end of the confidence interval where the measurement is noisy.
          const double speedup = turn.speedup ? turn.speedup->estimate() : 1;
          const double speed = std::clamp(std::log2(std::max(speedup, 1.0)), 0.0, 4.0);
          return TurnScore{correct + speed, {{"correct", correct}, {"speed", speed}}};
        });
  }

 private:
  double bonus_, gamma_;
};

}  // namespace

HONE_EXPORT_REWARD(MyReward, "my_reward", "1.0.0");
