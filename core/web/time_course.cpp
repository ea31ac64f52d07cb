// Intervals that widen as time goes on.
#include "web/time_course.hpp"

#include <utility>

namespace hone {
namespace {

constexpr double kTimeMax = 253402300800;  // the year 10000

}  // namespace

void TimeCourse::add(double at, const TurnLine& turn) {
  if (!turn.scored || !(at >= 0 && at < kTimeMax)) return;
  intervals_[static_cast<std::int64_t>(at) / width_s_].add(turn);
  while (intervals_.rbegin()->first - intervals_.begin()->first >=
         static_cast<std::int64_t>(kIntervalsMax)) {
    widen();
  }
}

void TimeCourse::widen() {
  std::map<std::int64_t, TurnSums> wider;
  for (const auto& [index, sums] : intervals_) wider[index / 2] += sums;
  intervals_ = std::move(wider);
  width_s_ *= 2;
}

Value TimeCourse::value() const {
  Value list = Value::array();
  for (const auto& [index, sums] : intervals_) {
    list.push(Value::map({{"from", index * width_s_},
                          {"to", (index + 1) * width_s_},
                          {"attempts", sums.attempts},
                          {"success", sums.success()},
                          {"reward_mean", sums.reward_mean()},
                          {"speedup_mean", sums.speedup_mean()}}));
  }
  return list;
}

}  // namespace hone
