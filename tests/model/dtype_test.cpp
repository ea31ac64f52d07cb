// 16-bit floats, bit by bit, and the table of dtypes.
#include "model/dtype.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace hone {
namespace {

std::uint16_t half(double value) { return Half(static_cast<float>(value)).bits; }
std::uint16_t bfloat(double value) { return Bfloat16(static_cast<float>(value)).bits; }

float from_half(std::uint16_t bits) {
  Half h;
  h.bits = bits;
  return h;
}
float from_bfloat(std::uint16_t bits) {
  Bfloat16 b;
  b.bits = bits;
  return b;
}

TEST(DType, Half_ConvertsBitForBit) {
  EXPECT_EQ(half(0.0), 0x0000);
  EXPECT_EQ(half(-0.0), 0x8000);
  EXPECT_EQ(half(1.0), 0x3c00);
  EXPECT_EQ(half(-2.0), 0xc000);
  EXPECT_EQ(half(0.1), 0x2e66);
  EXPECT_EQ(half(65504.0), 0x7bff);    // the largest
  EXPECT_EQ(half(65519.996), 0x7bff);  // still rounds down to it
  EXPECT_EQ(half(65520.0), 0x7c00);    // half-way: infinite
  EXPECT_EQ(half(-1e30), 0xfc00);
  EXPECT_EQ(half(0x1p-14), 0x0400);          // the least normal
  EXPECT_EQ(half(0x1p-24), 0x0001);          // the least subnormal
  EXPECT_EQ(half(0x1p-25), 0x0000);          // half of it: to even
  EXPECT_EQ(half(0x1.000002p-25), 0x0001);   // just more than half
  EXPECT_EQ(half(0x1.8p-24), 0x0002);        // 1.5: to even
  EXPECT_EQ(half(0x1.ff8p-15), 0x03ff);      // the largest subnormal
  EXPECT_EQ(half(0x1.ffcp-15), 0x0400);      // between both: to even
  EXPECT_EQ(half(1 + 0x1p-11), 0x3c00);      // half-way: to even, down
  EXPECT_EQ(half(1 + 0x3p-11), 0x3c02);      // half-way: to even, up
  EXPECT_EQ(half(1 + 0x1.002p-11), 0x3c01);  // above half-way
  EXPECT_EQ(half(0x1.ffep0), 0x4000);        // the carry raises the exponent
  EXPECT_TRUE(std::isnan(from_half(half(std::numeric_limits<double>::quiet_NaN()))));
  EXPECT_EQ(from_half(0x7c00), std::numeric_limits<float>::infinity());
}

TEST(DType, Bfloat16_ConvertsBitForBit) {
  EXPECT_EQ(bfloat(0.0), 0x0000);
  EXPECT_EQ(bfloat(-0.0), 0x8000);
  EXPECT_EQ(bfloat(1.0), 0x3f80);
  EXPECT_EQ(bfloat(-2.0), 0xc000);
  EXPECT_EQ(bfloat(0.1), 0x3dcd);
  EXPECT_EQ(bfloat(1 + 0x1p-8), 0x3f80);  // half-way: to even, down
  EXPECT_EQ(bfloat(1 + 0x3p-8), 0x3f82);  // half-way: to even, up
  EXPECT_EQ(bfloat(1 + 0x1.02p-8), 0x3f81);
  EXPECT_EQ(bfloat(3.4e38), 0x7f80);    // rounds to infinity
  EXPECT_EQ(bfloat(0x1p-133), 0x0001);  // the least subnormal
  EXPECT_EQ(bfloat(std::numeric_limits<double>::infinity()), 0x7f80);
  EXPECT_TRUE(std::isnan(from_bfloat(bfloat(std::numeric_limits<double>::quiet_NaN()))));
  // A NaN whose fraction lies in the lower half stays one.
  EXPECT_TRUE(std::isnan(from_bfloat(Bfloat16(std::bit_cast<float>(0x7f800001u)).bits)));
}

TEST(DType, EverySixteenBitPattern_RoundTrips) {
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const auto pattern = static_cast<std::uint16_t>(bits);
    if (const float value = from_half(pattern); !std::isnan(value)) {
      ASSERT_EQ(Half(value).bits, pattern);
    }
    if (const float value = from_bfloat(pattern); !std::isnan(value)) {
      ASSERT_EQ(Bfloat16(value).bits, pattern);
    }
  }
}

/// The middle of two neighbours rounds to the even one, and the values next to it round to the nearer one.
TEST(DType, Half_RoundsToNearestEverywhere) {
  for (std::uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const float low = from_half(static_cast<std::uint16_t>(bits));
    const float high = from_half(static_cast<std::uint16_t>(bits + 1));
    const float middle = low + (high - low) / 2;
    ASSERT_EQ(Half(middle).bits, bits + (bits & 1)) << bits;
    ASSERT_EQ(Half(std::nextafter(middle, low)).bits, bits) << bits;
    ASSERT_EQ(Half(std::nextafter(middle, high)).bits, bits + 1) << bits;
  }
}

TEST(DType, Types_HaveNamesSizesAndCNames) {
  for (const std::string& name : dtype_names()) {
    const auto dtype = parse_dtype(name);
    ASSERT_TRUE(dtype.ok()) << name;
    EXPECT_EQ(dtype_name(*dtype), name);
  }
  EXPECT_EQ(dtype_size(DType::kF16), 2u);
  EXPECT_EQ(dtype_c_name(DType::kF16), "__half");
  EXPECT_EQ(dtype_size(DType::kBF16), 2u);
  EXPECT_EQ(dtype_c_name(DType::kBF16), "__nv_bfloat16");
  EXPECT_TRUE(dtype_is_float(DType::kBF16));
  EXPECT_FALSE(dtype_is_scalar(DType::kF16));
  EXPECT_EQ(parse_dtype("f17").error().message, "no dtype is called 'f17'");
}

}  // namespace
}  // namespace hone
