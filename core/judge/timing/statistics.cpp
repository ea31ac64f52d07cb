// Bootstrap of the middle mean of log ratios.
#include "judge/timing/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "base/assert.hpp"

namespace hone {
namespace {

/// Rationale: the bootstrap takes n ratios for the whole truth. Two factors mend that: Student's t
/// instead of the normal (by its expansion in 1/n), and the small sample's variance.
double widening(std::size_t n) {
  if (n < 3) return 10;
  const double f = static_cast<double>(n) - 1;
  constexpr double z = 1.96;
  const double t =
      z + (z * z * z + z) / (4 * f) + (5 * std::pow(z, 5) + 16 * z * z * z + 3 * z) / (96 * f * f);
  return t / z * std::sqrt(static_cast<double>(n) / f);
}

}  // namespace

double median(std::vector<double> values) {
  HONE_ASSERT(!values.empty());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  const double upper = *middle;
  return 0.5 * (upper + *std::max_element(values.begin(), middle));
}

double middle_mean(std::vector<double> values) {
  HONE_ASSERT(!values.empty());
  std::sort(values.begin(), values.end());
  const std::size_t drop = values.size() / 4;
  double sum = 0;
  for (std::size_t i = drop; i < values.size() - drop; ++i) sum += values[i];
  return sum / static_cast<double>(values.size() - 2 * drop);
}

Interval speedup_of_rounds(const std::vector<double>& a, const std::vector<double>& b,
                           std::uint64_t seed) {
  HONE_ASSERT(!b.empty() && a.size() == b.size());
  std::vector<double> logs;
  for (std::size_t i = 0; i < b.size(); ++i) logs.push_back(std::log(a[i] / b[i]));
  constexpr std::size_t kResamples = 1000;
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<std::size_t> pick(0, logs.size() - 1);
  std::vector<double> means, sample(logs.size());
  for (std::size_t i = 0; i < kResamples; ++i) {
    for (double& x : sample) x = logs[pick(random)];
    means.push_back(middle_mean(sample));
  }
  std::sort(means.begin(), means.end());
  const double centre = middle_mean(logs);
  const double widen = widening(logs.size());
  return {std::exp(centre), std::exp(centre + widen * (means[kResamples * 25 / 1000] - centre)),
          std::exp(centre + widen * (means[kResamples * 975 / 1000 - 1] - centre))};
}

double spread_of_rounds(const std::vector<double>& rounds, std::uint64_t seed) {
  const std::vector<double> steady(rounds.size(), median(rounds));
  const Interval interval = speedup_of_rounds(rounds, steady, seed);
  return (interval.high - interval.low) / interval.value;
}

}  // namespace hone
