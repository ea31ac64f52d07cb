// Rooflines: the figures they need, and the places of lines and points.
#include "web/roofline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace hone {
namespace {

using testing::HasSubstr;

Value facts_of_matmul() {
  return Value::map({{"time_us", 1000.0},
                     {"baseline_us", 4000.0},
                     {"flops", 50e6},
                     {"intensity", 50.0},
                     {"peak_bytes_per_second", 20e9},
                     {"peak_flops_per_second", 100e9}});
}

TEST(RooflineTest, Profile_HasKernelAndBaseline) {
  const auto roofline = roofline_of_profile("Matrix product", facts_of_matmul());
  ASSERT_TRUE(roofline) << roofline.error().message;
  ASSERT_EQ(roofline->points.size(), 2u);
  EXPECT_EQ(roofline->points[0].name, "kernel");
  EXPECT_DOUBLE_EQ(roofline->points[0].flops_per_second, 50e9);
  EXPECT_DOUBLE_EQ(roofline->points[1].flops_per_second, 12.5e9);
}

TEST(RooflineTest, UnknownFigures_AreNamed) {
  Value facts = facts_of_matmul();
  facts.set("flops", Value()).set("peak_bytes_per_second", Value());
  const auto roofline = roofline_of_profile("Matrix product", facts);
  ASSERT_FALSE(roofline);
  EXPECT_EQ(roofline.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(roofline.error().message, HasSubstr("are unknown: flops, peak_bytes_per_second"));
}

TEST(RooflineTest, AbsurdFigures_AreRefused) {
  for (const double absurd : {0.0, -1.0, 1e-300, 1e300, std::numeric_limits<double>::quiet_NaN()}) {
    Value facts = facts_of_matmul();
    facts.set("peak_bytes_per_second", absurd);
    EXPECT_FALSE(roofline_of_profile("Matrix product", facts)) << absurd;
  }
}

TEST(RooflineTest, Picture_HasTheRoofAndTheSharesOfIt) {
  Roofline roofline = roofline_of_profile("Matrix product", facts_of_matmul()).value();
  std::string svg = roofline_svg(roofline);
  EXPECT_THAT(svg, HasSubstr("memory: 20 GB/s"));
  EXPECT_THAT(svg, HasSubstr("arithmetic: 100 GFLOP/s"));
  EXPECT_THAT(svg, HasSubstr("kernel: 50 GFLOP/s, 50 % of the roof"));
  EXPECT_THAT(svg, HasSubstr("baseline: 12.5 GFLOP/s, 12 % of the roof"));
  // With one operation for each byte, memory permits a fifth of the peak.
  roofline.intensity = 1;
  roofline.points = {{"kernel", 10e9}};
  svg = roofline_svg(roofline);
  EXPECT_THAT(svg, HasSubstr("kernel: 10 GFLOP/s, 50 % of the roof"));
  // The axis of 600 units goes from 0.1 to 10 operations for each byte: the task stands in the middle.
  EXPECT_THAT(svg, HasSubstr("<circle cx=\"400.0\""));
}

TEST(RooflineTest, Labels_DoNotOverlap) {
  Roofline roofline = roofline_of_profile("Matrix product", facts_of_matmul()).value();
  roofline.points[1].flops_per_second = roofline.points[0].flops_per_second;
  const std::string svg = roofline_svg(roofline);
  const auto label_of = [&svg](const std::string& name) {
    const std::size_t end = svg.find(name + ": ");
    const std::size_t begin = svg.rfind("y=\"", end) + 3;
    return std::stod(svg.substr(begin));
  };
  EXPECT_GE(label_of("baseline") - label_of("kernel"), 16);
}

TEST(RooflineTest, Title_IsEscaped) {
  Roofline roofline = roofline_of_profile("<script>\"&", facts_of_matmul()).value();
  const std::string svg = roofline_svg(roofline);
  EXPECT_EQ(svg.find("<script"), std::string::npos);
  EXPECT_THAT(svg, HasSubstr("&lt;script&gt;&quot;&amp;"));
}

}  // namespace
}  // namespace hone
