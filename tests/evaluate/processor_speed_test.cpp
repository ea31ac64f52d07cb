// The measured rates of a core. The bounds are wide, because other work can take the core meanwhile.
#include "evaluate/processor_speed.hpp"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(ProcessorSpeedTest, Rates_ArePlausible) {
  const ProcessorSpeed speed = measure_processor(0);
  EXPECT_GT(speed.clock_hz, 2e8);
  EXPECT_LT(speed.clock_hz, 1e10);
  EXPECT_GT(speed.bytes_per_second, 1e8);
  EXPECT_LT(speed.bytes_per_second, 1e12);
  // At least one operation in two cycles. At most two units of fused multiplications and additions at a clock of 10 GHz: the
  // bound does not use the measured clock rate, because its best repeat can be worse than that of the arithmetic.
  EXPECT_GT(speed.f32_flops_per_second, 1e8);
  EXPECT_LT(speed.f32_flops_per_second, 1e10 * 4 * speed.vector_bytes / 4);
  EXPECT_GT(speed.f64_flops_per_second, 1e8);
  EXPECT_LT(speed.f64_flops_per_second, 1e10 * 4 * speed.vector_bytes / 8);
}

}  // namespace
}  // namespace hone
