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
  // Two units of fused multiplications and additions: 4 operations a cycle for each element of a vector.
  EXPECT_GT(speed.f32_flops, speed.clock_hz / 8);
  EXPECT_LT(speed.f32_flops, 2 * 4 * speed.clock_hz * speed.vector_bytes / 4);
  EXPECT_GT(speed.f64_flops, speed.clock_hz / 16);
  EXPECT_LT(speed.f64_flops, 2 * 4 * speed.clock_hz * speed.vector_bytes / 8);
}

}  // namespace
}  // namespace hone
