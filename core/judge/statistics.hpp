// Statistics of a measurement: A·B…B·A rounds into a speedup with its confidence interval.
#pragma once

#include <cstdint>
#include <vector>

namespace hone {

struct Interval {
  double value = 1, low = 1, high = 1;
};

double median(std::vector<double> values);

/// Speedup of B over A from the times A0 B1 A1 B2 A2 … (a has one more than b): each B against the
/// mean of its two neighbours, the median of the ratios, and a 95 % bootstrap interval of it.
/// Deterministic for a seed.
Interval speedup_of_rounds(const std::vector<double>& a, const std::vector<double>& b,
                           std::uint64_t seed);

}  // namespace hone
