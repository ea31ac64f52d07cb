// Table tests of the tolerance that follows from a reference's own error, and of comparisons under it.
#include "judge/reference_error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace hone {
namespace {

const Tolerance kLeast{.rtol = 5e-5, .rms = 5e-5, .norm = 1e-5, .from_reference = true};

struct Row {
  const char* what;
  double own_element, own_norm, allowed_element, allowed_norm;
  double element, norm;
};

TEST(Widened, Tolerance_FollowsTheTable) {
  const Row rows[] = {
      {"a float32 product is held to the least", 2.3e-6, 4.2e-7, 0, 0, 5e-5, 1e-5},
      {"a deep float32 network widens both", 6.4e-5, 3e-6, 0, 0, 5.12e-4, 1.2e-5},
      {"a convolution that the library computed in TF32", 1.7e-3, 1.9e-4, 3e-3, 3.7e-4, 1.36e-2,
       7.6e-4},
      {"the same where the library chose float32", 3.9e-6, 2.3e-7, 3e-3, 3.7e-4, 1.2e-2, 7.4e-4},
      {"single elements flip", 1.9, 1.3e-4, 0, 0, 1e30, 5.2e-4},
      {"rounding is as large as the answer", 2.9, 0.58, 0, 0, 1e30, 0.1},
  };
  for (const Row& row : rows) {
    const ReferenceError::Output error{
        {.element = row.own_element, .norm = row.own_norm},
        OutputError{.element = row.allowed_element, .norm = row.allowed_norm}};
    const OutputTolerance made = widened(kLeast, error);
    EXPECT_DOUBLE_EQ(made.usual.rtol, row.element) << row.what;
    EXPECT_DOUBLE_EQ(made.usual.rms, row.element) << row.what;
    EXPECT_DOUBLE_EQ(made.usual.norm, row.norm) << row.what;
  }
}

TEST(Widened, Tf32Allowed_BfloatOperandsFail) {
  // As measured over KernelBench's convolutions: TF32 1.9e-4, cut off 3.7e-4, bfloat16 1.5e-3.
  const OutputTolerance made = widened(
      kLeast, {{.element = 1.7e-3, .norm = 1.9e-4}, OutputError{.element = 3e-3, .norm = 3.7e-4}});
  EXPECT_TRUE(is_within({.element = 3e-3, .norm = 3.7e-4}, made));
  EXPECT_FALSE(is_within({.element = 1e-2, .norm = 1.5e-3}, made));
}

TEST(Widened, FlippedElements_AreAllowedUpToAMultiple) {
  const OutputTolerance none = widened(kLeast, {});
  EXPECT_TRUE(may_be_outside(none, 0, 100));
  EXPECT_FALSE(may_be_outside(none, 1, 100));
  const OutputTolerance some = widened(kLeast, {{.share = 0.01}, std::nullopt});
  EXPECT_TRUE(may_be_outside(some, 4, 100));
  EXPECT_FALSE(may_be_outside(some, 5, 100));
}

TEST(ReferenceError, Errors_RoundTripAndMerge) {
  const auto read = reference_error_from_json(
      R"({"outputs":[{"own":[1e-6,1e-7,0,0,0],"allowed":[2e-3,2e-4,0,0,0]}],"in_double":true,"memory_bytes":1000,"structure":2})");
  ASSERT_TRUE(read) << read.error().message;
  const auto again = reference_error_from_value(reference_error_to_value(*read));
  ASSERT_TRUE(again);
  EXPECT_DOUBLE_EQ(again->outputs[0].allowed->norm, 2e-4);
  EXPECT_EQ(again->structure, 2);
  ReferenceError other = *read;
  other.in_double = false;
  other.structure.reset();
  other.memory_bytes = 10;
  other.outputs[0].own.norm = 1e-3;
  const ReferenceError both = larger(*read, other);
  EXPECT_FALSE(both.in_double);
  EXPECT_EQ(both.structure, 2);
  EXPECT_EQ(larger(other, *read).structure, 2);
  EXPECT_EQ(both.memory_bytes, 1000u);
  EXPECT_DOUBLE_EQ(both.outputs[0].own.norm, 1e-3);
  EXPECT_DOUBLE_EQ(both.outputs[0].own.element, 1e-6);
}

TEST(ReferenceError, BrokenReports_AreNamed) {
  for (const char* text :
       {"", "{}", R"({"outputs":[],"in_double":true,"memory_bytes":1,"structure":4})",
        R"({"outputs":[{}],"in_double":true,"memory_bytes":1})",
        R"({"outputs":[{"own":[1,2]}],"in_double":true,"memory_bytes":1})",
        R"({"outputs":[{"own":[1,2,3,4,-5]}],"in_double":true,"memory_bytes":1})"}) {
    EXPECT_FALSE(reference_error_from_json(text)) << text;
  }
}

// ---- what a comparison does with it ----

std::optional<Mismatch> compare(const std::vector<float>& got, const std::vector<double>& expected,
                                const OutputTolerance& tolerance) {
  return compare_output(got.data(), expected.data(), DType::kF32, got.size(), got.size(),
                        tolerance);
}

std::vector<double> waves(std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = std::sin(static_cast<double>(i));
  return values;
}

std::vector<float> with_error(const std::vector<double>& values, double relative) {
  std::vector<float> made;
  for (std::size_t i = 0; i < values.size(); ++i)
    made.push_back(static_cast<float>(values[i] * (1 + (i % 2 == 0 ? relative : -relative))));
  return made;
}

TEST(Compare, ManySmallErrors_FailTogether) {
  const auto expected = waves(1000);
  const OutputTolerance tolerance = widened(kLeast, {});
  EXPECT_FALSE(compare(with_error(expected, 1e-6), expected, tolerance));
  const auto wrong = compare(with_error(expected, 4e-5), expected, tolerance);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->wrong, 0);
  EXPECT_GT(wrong->norm, 1e-5);
  EXPECT_DOUBLE_EQ(wrong->norm_allowed, 1e-5);
  EXPECT_EQ(wrong->index.size(), 1u);
}

TEST(Compare, LargeElements_DoNotHideErrorsOfOthers) {
  auto expected = waves(4000);
  for (std::size_t i = 0; i < expected.size(); i += 2) expected[i] = -1e9;
  std::vector<float> got(expected.begin(), expected.end());
  const OutputTolerance tolerance = widened(kLeast, {});
  EXPECT_FALSE(compare(got, expected, tolerance));
  got[1001] = 0.5f;  // of a root mean square of 7e8 that is nothing
  EXPECT_TRUE(compare(got, expected, tolerance));
  for (std::size_t i = 1; i < got.size(); i += 2) got[i] = 0;
  EXPECT_TRUE(compare(got, expected, tolerance));
}

TEST(Compare, ValueOutOfRange_IsZeroOrInfinite) {
  const Tolerance least{.rtol = 5e-5,
                        .atol = smallest_of(DType::kF32),
                        .rms = 5e-5,
                        .norm = 1e-5,
                        .from_reference = true};
  const OutputTolerance tolerance = same_for_all(least);
  EXPECT_FALSE(compare({0.0f, 0.0f}, {1.46e-144, -3e-200}, tolerance));
  EXPECT_FALSE(compare({HUGE_VALF, 1.0f}, {1e40, 1.0}, tolerance));
  EXPECT_TRUE(compare({-HUGE_VALF, 1.0f}, {1e40, 1.0}, tolerance));
  EXPECT_TRUE(compare({1e-3f, 0.0f}, {1.46e-144, 0.0}, tolerance));
}

TEST(SmallScale, OnlyTensorsOfSeveralMagnitudes_HaveOne) {
  const auto sample = waves(2000);
  EXPECT_EQ(small_scale(sample, 0.7, DType::kF32), 0);
  auto masked = sample;
  for (std::size_t i = 0; i < masked.size(); i += 2) masked[i] = -1e9;
  const double scale = small_scale(masked, 7e8, DType::kF32);
  EXPECT_GT(scale, 0.05);
  EXPECT_LT(scale, 8);
  EXPECT_EQ(small_scale({0, 0, 0}, 0, DType::kF32), 0);
}

}  // namespace
}  // namespace hone
