// Generated inputs: they depend on the seed only, and each generator has its distribution.
#include "judge/fill.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

namespace hone {
namespace {

std::vector<float> fill(const char* kind, double a, double b, std::uint64_t seed = 1,
                        std::size_t n = 100000) {
  std::vector<float> values(n);
  fill_tensor(values.data(), DType::kF32, n, {kind, a, b}, seed);
  return values;
}

double mean(const std::vector<float>& v) {
  return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
}

TEST(Fill, SameSeed_GivesTheSameBytes) {
  for (const char* kind : {"normal", "uniform", "cancel", "scaled", "ties", "sparse"}) {
    EXPECT_EQ(fill(kind, 0.5, 2, 7), fill(kind, 0.5, 2, 7)) << kind;
    EXPECT_NE(fill(kind, 0.5, 2, 7), fill(kind, 0.5, 2, 8)) << kind;
  }
}

TEST(Fill, EachKind_HasItsDistribution) {
  const auto normal = fill("normal", 3, 2);
  EXPECT_NEAR(mean(normal), 3, 0.05);
  double variance = 0;
  for (const float x : normal) variance += (x - 3) * (x - 3) / static_cast<double>(normal.size());
  EXPECT_NEAR(variance, 4, 0.1);
  for (const float x : fill("uniform", -1, 1)) ASSERT_TRUE(x >= -1 && x < 1);
  EXPECT_NEAR(mean(fill("cancel", 0, 1)), 0, 1e-4);
  const auto ties = fill("ties", 5, 1);
  EXPECT_EQ(std::set<float>(ties.begin(), ties.end()).size(), 5u);
  const auto sparse = fill("sparse", 0.9, 1);
  EXPECT_NEAR(static_cast<double>(std::count(sparse.begin(), sparse.end(), 0.0f)) / 100000, 0.9,
              0.01);
  EXPECT_EQ(fill("ramp", 1, 2)[10], 21);
  EXPECT_EQ(fill("constant", 4, 0)[99], 4);
}

TEST(Fill, Integers_CoverTheirRangeAndNothingElse) {
  std::vector<std::int8_t> bytes(100000);
  fill_tensor(bytes.data(), DType::kI8, bytes.size(), {"integers", -3, 3}, 1);
  EXPECT_EQ(std::set<std::int8_t>(bytes.begin(), bytes.end()),
            (std::set<std::int8_t>{-3, -2, -1, 0, 1, 2, 3}));
  fill_tensor(bytes.data(), DType::kI8, bytes.size(), {"normal", 0, 1000}, 1);
  EXPECT_EQ(*std::max_element(bytes.begin(), bytes.end()), 127);
  EXPECT_EQ(*std::min_element(bytes.begin(), bytes.end()), -128);
}

/// What a tensor of floats would hold, each rounded.
template <typename T>
void expect_rounded(DType dtype) {
  for (const char* kind : {"normal", "uniform", "cancel", "scaled", "ties", "sparse", "ramp"}) {
    const std::vector<float> floats = fill(kind, 0.5, 3, 9, 1000);
    std::vector<T> rounded(floats.size());
    fill_tensor(rounded.data(), dtype, rounded.size(), {kind, 0.5, 3}, 9);
    for (std::size_t i = 0; i < floats.size(); ++i) {
      ASSERT_EQ(rounded[i].bits, T(floats[i]).bits) << kind << " " << i;
    }
  }
  std::vector<T> whole(1000);
  fill_tensor(whole.data(), dtype, whole.size(), {"integers", -3, 3}, 1);
  std::set<float> values(whole.begin(), whole.end());
  EXPECT_EQ(values, (std::set<float>{-3, -2, -1, 0, 1, 2, 3}));
}

TEST(Fill, FloatsOfSixteenBits_AreTheRoundedFloats) {
  expect_rounded<Half>(DType::kF16);
  expect_rounded<Bfloat16>(DType::kBF16);
}

TEST(Fill, Offsets_RiseFromZeroToTheEnd) {
  for (const double power : {1.0, 2.0, 3.0}) {
    for (const std::size_t n : {2u, 3u, 1000u}) {
      std::vector<std::int32_t> offsets(n);
      fill_tensor(offsets.data(), DType::kI32, n, {"offsets", 64, power}, 5);
      EXPECT_EQ(offsets.front(), 0);
      EXPECT_EQ(offsets.back(), static_cast<std::int32_t>(64 * (n - 1)));
      EXPECT_TRUE(std::is_sorted(offsets.begin(), offsets.end()));
    }
  }
  std::vector<std::int32_t> even(1001), skewed(1001), other(1001);
  fill_tensor(even.data(), DType::kI32, even.size(), {"offsets", 64, 1}, 5);
  fill_tensor(skewed.data(), DType::kI32, skewed.size(), {"offsets", 64, 3}, 5);
  fill_tensor(other.data(), DType::kI32, other.size(), {"offsets", 64, 3}, 6);
  EXPECT_NE(skewed, other);
  EXPECT_NEAR(even[500], 32000, 64);
  EXPECT_NEAR(skewed[500], 8000, 64);
  // Empty ones at the start, long ones at the end.
  EXPECT_EQ(skewed[5], skewed[6]);
  EXPECT_GT(skewed[1000] - skewed[990], 3 * 64 * 9);
}

TEST(Fill, Seeds_AreIndependent) {
  EXPECT_NE(derive_seed(1, "a"), derive_seed(1, "b"));
  EXPECT_NE(derive_seed(1, "a", 1), derive_seed(1, "a", 2));
  EXPECT_EQ(derive_seed(1, "a", 1), derive_seed(1, "a", 1));
}

TEST(Fill, Pattern_DetectsAnyChangedByte) {
  std::vector<char> arena(1000);
  write_pattern(arena.data(), 3, 997, 42);
  EXPECT_TRUE(pattern_stands(arena.data(), 3, 997, 42));
  EXPECT_TRUE(pattern_stands(arena.data(), 500, 501, 42));
  EXPECT_FALSE(pattern_stands(arena.data(), 3, 997, 43));
  for (const std::size_t at : {std::size_t{3}, std::size_t{500}, std::size_t{996}}) {
    arena[at] = static_cast<char>(arena[at] + 1);
    EXPECT_FALSE(pattern_stands(arena.data(), 3, 997, 42)) << at;
    arena[at] = static_cast<char>(arena[at] - 1);
  }
  EXPECT_EQ(arena[2], 0);
  EXPECT_EQ(arena[997], 0);
}

}  // namespace
}  // namespace hone
