// The tolerance: outputs that pass and fail, and the reported mismatch.
#include "judge/compare.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace hone {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

std::optional<Mismatch> compare(const std::vector<float>& got, const std::vector<double>& expected,
                                Tolerance t, std::uint64_t row = 0) {
  return compare_output(got.data(), expected.data(), DType::kF32, got.size(),
                        row == 0 ? got.size() : row, t);
}

TEST(Compare, RelativeAndAbsoluteTolerance_Add) {
  EXPECT_FALSE(compare({1.0f, 100.001f}, {1.0, 100.0}, {.rtol = 1e-4}));
  auto wrong = compare({1.0f, 100.1f, 7.0f}, {1.0, 100.0, 8.0}, {.rtol = 1e-4});
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->wrong, 2);
  EXPECT_EQ(wrong->total, 3);
  EXPECT_EQ(wrong->index, std::vector<std::int64_t>{2});
  EXPECT_EQ(*wrong->got, 7.0);
  EXPECT_EQ(*wrong->expected, 8.0);
  EXPECT_TRUE(compare({1e-6f}, {0.0}, {.atol = 1e-7}));
}

TEST(Compare, RmsTolerance_CoversTheTensorOrEachRow) {
  const std::vector<double> expected{100, 100, 0.01, 0.01};
  const std::vector<float> got{100, 100, 0.02f, 0.01f};
  EXPECT_FALSE(compare(got, expected, {.rms = 1e-3}));
  auto wrong = compare(got, expected, {.rms = 1e-3, .rms_per_row = true}, 2);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->index, std::vector<std::int64_t>{2});
}

TEST(Compare, NanAndInfinity_EqualThemselvesOnly) {
  EXPECT_FALSE(compare({kNaN, kInf, -kInf}, {kNaN, kInf, -kInf}, {.rtol = 0.1}));
  auto wrong = compare({kNaN, 1.0f}, {1.0, 1.0}, {.rtol = 0.1});
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->nans, 1);
  EXPECT_TRUE(compare({kInf}, {1.0}, {.rtol = 0.1}));
  EXPECT_TRUE(compare({1.0f}, {kNaN}, {.rtol = 0.1}));
}

TEST(Compare, Integers_AreEqualOrNot) {
  const std::vector<std::int32_t> expected{1, 2, 3}, got{1, 2, 9};
  EXPECT_FALSE(compare_output(expected.data(), expected.data(), DType::kI32, 3, 3, Tolerance{}));
  auto wrong = compare_output(got.data(), expected.data(), DType::kI32, 3, 3, Tolerance{});
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->wrong, 1);
  EXPECT_EQ(*wrong->got, 9);
}

template <typename T>
void expect_compared(DType dtype, double step) {
  const std::vector<T> got{T(1.0f), T(static_cast<float>(1 + step)), T(kInf)};
  const double kInfinite = static_cast<double>(kInf);
  const std::vector<double> expected{1.0, 1.0, kInfinite};
  EXPECT_FALSE(compare_output(got.data(), expected.data(), dtype, 3, 3, {.rtol = 1.01 * step}));
  const auto wrong = compare_output(got.data(), expected.data(), dtype, 3, 3, {.rtol = step / 2});
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->wrong, 1);
  EXPECT_EQ(wrong->index, std::vector<std::int64_t>{1});
  EXPECT_EQ(*wrong->got, 1 + step);
  EXPECT_DOUBLE_EQ(error_share(got.data(), expected.data(), dtype, 3, 3, {.rtol = 2 * step}), 0.5);
  const T nan(kNaN);
  EXPECT_TRUE(std::isinf(error_share(&nan, expected.data(), dtype, 1, 1, {.rtol = 1.0})));
}

TEST(Compare, FloatsOfSixteenBits_AreComparedAsDoubles) {
  expect_compared<Half>(DType::kF16, 0x1p-10);
  expect_compared<Bfloat16>(DType::kBF16, 0x1p-7);
}

TEST(Compare, ErrorShare_IsRelativeToTheTolerance) {
  const float got = 1.5f;
  const double expected = 1.0;
  EXPECT_DOUBLE_EQ(error_share(&got, &expected, DType::kF32, 1, 1, {.rtol = 1.0}), 0.5);
  EXPECT_TRUE(std::isinf(error_share(&kNaN, &expected, DType::kF32, 1, 1, {.rtol = 1.0})));
}

}  // namespace
}  // namespace hone
