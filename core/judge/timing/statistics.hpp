// Statistics of a measurement: A·B B·A rounds into a speedup with its confidence interval.
#pragma once

#include <cstdint>
#include <vector>

namespace hone {

struct Interval {
  double value = 1, low = 1, high = 1;
};

double median(std::vector<double> values);
/// The mean of the middle half: a quarter is dropped at each end. Nearly as sharp as the mean, and
/// a few spikes do not move it.
double middle_mean(std::vector<double> values);

/// Speedup of B over A from the times of pairs of neighbouring rounds: the middle mean of the log
/// ratios, and a 95 % bootstrap interval of it, widened for how few they are. Deterministic for a
/// seed.
Interval speedup_of_rounds(const std::vector<double>& a, const std::vector<double>& b,
                           std::uint64_t seed);
/// The width of that interval, relative to the speedup, for rounds that should all take the same.
double spread_of_rounds(const std::vector<double>& rounds, std::uint64_t seed);

}  // namespace hone
