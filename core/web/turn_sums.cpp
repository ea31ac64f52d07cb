// Which turn counts for which mean.
#include "web/turn_sums.hpp"

#include <cmath>

#include "model/verdict.hpp"

namespace hone {

void TurnSums::add(const TurnLine& turn) {
  if (!turn.scored) return;
  ++attempts;
  if (turn.outcome == outcome_name(Outcome::kCorrect)) {
    ++correct;
    if (std::isfinite(turn.speedup) && turn.speedup > 0) {
      ++timed;
      speedup_log_sum += std::log(turn.speedup);
    }
  }
  if (std::isfinite(turn.reward)) {
    ++rewards;
    reward_sum += turn.reward;
  }
}

void TurnSums::operator+=(const TurnSums& other) {
  attempts += other.attempts;
  correct += other.correct;
  timed += other.timed;
  rewards += other.rewards;
  speedup_log_sum += other.speedup_log_sum;
  reward_sum += other.reward_sum;
}

Value TurnSums::success() const { return mean_value(static_cast<double>(correct), attempts); }

Value TurnSums::speedup_mean() const {
  const Value log_mean = mean_value(speedup_log_sum, timed);
  return log_mean.is_number() ? Value(std::exp(log_mean.as_double())) : Value();
}

Value TurnSums::reward_mean() const { return mean_value(reward_sum, rewards); }

Value mean_value(double sum, std::int64_t count) {
  return count > 0 ? Value(sum / static_cast<double>(count)) : Value();
}

}  // namespace hone
