#include "judge/timing/round_times.hpp"

#include <algorithm>

#include "judge/timing/statistics.hpp"

namespace hone {

Floor floor_of(const std::vector<double>& rounds) {
  std::vector<double> sorted = rounds;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t quarter = sorted.size() / 4;
  return {median(sorted), sorted.front(),
          2 * (sorted[sorted.size() - 1 - quarter] - sorted[quarter])};
}

double per_call(double seconds, const Floor& floor, std::size_t calls, double least) {
  const auto count = static_cast<double>(calls);
  return std::max({seconds - floor.seconds, floor.spread, least * count}) / count;
}

std::vector<double> per_call(const std::vector<double>& rounds, const Floor& floor,
                             std::size_t calls, double least) {
  std::vector<double> each;
  each.reserve(rounds.size());
  for (const double seconds : rounds) each.push_back(per_call(seconds, floor, calls, least));
  return each;
}

double least_seconds(const Task& task, double bytes_per_second_max) {
  return least_bytes(task) / bytes_per_second_max;
}

bool beyond_physics(const Task& task, double call_seconds, double bytes_per_second_max) {
  return call_seconds < least_seconds(task, bytes_per_second_max);
}

}  // namespace hone
