// Statistics of pairs: exact on clean data, robust against outliers, with correct confidence intervals.
#include "judge/timing/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace hone {
namespace {

TEST(Speedup, CleanRounds_GiveTheExactSpeedup) {
  const Interval interval = speedup_of_rounds({2, 2, 2, 2, 2}, {1, 1, 1, 1, 1}, 1);
  EXPECT_DOUBLE_EQ(interval.value, 2);
  EXPECT_DOUBLE_EQ(interval.low, 2);
  EXPECT_DOUBLE_EQ(interval.high, 2);
}

TEST(Speedup, SharedDrift_CancelsOut) {
  std::vector<double> a, b;
  for (int i = 0; i < 10; ++i) {
    a.push_back(2 + 0.2 * i);
    b.push_back(1 + 0.1 * i);
  }
  EXPECT_NEAR(speedup_of_rounds(a, b, 1).value, 2, 1e-9);
}

TEST(Speedup, OneSpike_HasLittleEffect) {
  std::vector<double> a(9, 2.0), b(9, 1.0);
  b[4] = 50;
  EXPECT_DOUBLE_EQ(speedup_of_rounds(a, b, 1).value, 2);
}

/// How often of 1000 the interval holds the truth, when both sides have the same true time.
int held(int pairs) {
  std::mt19937_64 random(42);
  std::normal_distribution<double> noise(0, 0.02);
  int count = 0;
  for (int t = 0; t < 1000; ++t) {
    std::vector<double> a, b;
    for (int i = 0; i < pairs; ++i) a.push_back(std::exp(noise(random)));
    for (int i = 0; i < pairs; ++i) b.push_back(std::exp(noise(random)));
    const Interval interval = speedup_of_rounds(a, b, static_cast<std::uint64_t>(t));
    count += interval.low <= 1 && interval.high >= 1;
  }
  return count;
}

TEST(Speedup, Interval_HasItsNominalCoverage) {
  for (const int pairs : {7, 9, 15}) {
    EXPECT_GE(held(pairs), 930) << pairs;
    EXPECT_LE(held(pairs), 980) << pairs;
  }
}

TEST(Spread, OfSteadyRounds_IsNone) {
  EXPECT_DOUBLE_EQ(spread_of_rounds({2, 2, 2, 2, 2, 2, 2}, 1), 0);
}

TEST(Spread, OfRoundsThatVary_IsTheWidthOfTheirInterval) {
  const std::vector<double> rounds{1, 1.4, 0.8, 1.2, 0.9, 1.6, 1.1, 0.7, 1.3};
  const Interval interval = speedup_of_rounds(rounds, std::vector<double>(9, 1.1), 1);
  EXPECT_DOUBLE_EQ(spread_of_rounds(rounds, 1), (interval.high - interval.low) / interval.value);
  EXPECT_GT(spread_of_rounds(rounds, 1), 0.3);
}

TEST(MiddleMean, Mean_DropsAQuarterAtEachEnd) {
  EXPECT_EQ(middle_mean({100, 1, 2, 3, -100}), 2);
  EXPECT_EQ(middle_mean({7}), 7);
}

TEST(Median, OddAndEvenCounts_HaveTheirMedian) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
}

}  // namespace
}  // namespace hone
