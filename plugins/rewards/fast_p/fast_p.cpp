// KernelBench's fast_p as a reward: 1 for a correct kernel that is more than p times as fast, else
// 0.
#include "common/returns.hpp"

namespace hone::rewards {
namespace {

class FastP {
 public:
  static RewardDescription describe() {
    Parameters parameters = shared_parameters(1, "sum");
    parameters.push_back(
        number_parameter("p", 1, 0, 1e6, "the speedup to beat; 0: correct is enough"));
    return {.summary = "1 if correct and faster than p times the baseline",
            .source = "KernelBench, fast_p; one turn each there, so no discount here",
            .low = 0,
            .high = 1,
            .parameters = parameters};
  }

  explicit FastP(const Config& config) : rules_(read_rules(config)), p_(config.number("p")) {}

  RewardReport score(const Episode& episode) const {
    return score_turns(episode, rules_.returns, [this](const Turn& turn) {
      const bool fast = p_ <= 0 || rules_.speedup(turn).value_or(0) > p_;
      const double correct = turn.correct() ? 1 : 0;
      return TurnScore{fast ? correct : 0, {{"correct", correct}}};
    });
  }

 private:
  Rules rules_;
  double p_;
};

}  // namespace
}  // namespace hone::rewards

HONE_EXPORT_REWARD(hone::rewards::FastP, "fast_p", "2.0.0");
