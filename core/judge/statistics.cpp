// Bootstrap of the median of log ratios.
#include "judge/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "base/assert.hpp"

namespace hone {

double median(std::vector<double> values) {
  HONE_ASSERT(!values.empty());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  const double upper = *middle;
  return 0.5 * (upper + *std::max_element(values.begin(), middle));
}

Interval speedup_of_rounds(const std::vector<double>& a, const std::vector<double>& b,
                           std::uint64_t seed) {
  HONE_ASSERT(!b.empty() && a.size() == b.size() + 1);
  std::vector<double> logs;
  for (std::size_t i = 0; i < b.size(); ++i)
    logs.push_back(std::log(0.5 * (a[i] + a[i + 1]) / b[i]));
  constexpr int kResamples = 1000;
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<std::size_t> pick(0, logs.size() - 1);
  std::vector<double> medians, sample(logs.size());
  for (int i = 0; i < kResamples; ++i) {
    for (double& x : sample) x = logs[pick(random)];
    medians.push_back(median(sample));
  }
  std::sort(medians.begin(), medians.end());
  return {std::exp(median(logs)), std::exp(medians[kResamples * 25 / 1000]),
          std::exp(medians[kResamples * 975 / 1000 - 1])};
}

}  // namespace hone
