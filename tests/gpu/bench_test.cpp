// The device benchmark on the emulated driver: each figure exists and has the right name. Only a real device gives
// meaningful values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/device.hpp"
#include "gpu/emulated_gpu.hpp"

namespace hone::test {
namespace {

using testing::HasSubstr;

TEST(BenchDevice, SmallRun_HasAllFigures) {
  const auto launcher = Launcher::start({});
  ASSERT_TRUE(launcher) << launcher.error().message;
  DeviceBenchOptions bench;
  bench.task = std::make_shared<const Task>(small_task("cuda"));
  bench.count = 1;
  bench.steps = {1, 40};
  bench.threads = 2048;
  const auto figures = bench_device(**launcher, emulated_options("cuda"), bench);
  ASSERT_TRUE(figures) << figures.error().message;
  std::string names;
  for (const Value& figure : figures->as_array()) {
    names += figure.find("name")->as_string() + "\n";
    EXPECT_GE(figure.find("value")->as_double(), 0);
  }
  for (const char* name :
       {"evaluations per second, over a process for each", "check, p50", "answer, p99",
        "a baseline against itself, off by, builders busy", "false 'faster by 2 %', alone",
        "a round that does nothing", "judge's clock over the device's",
        "of the others, every fifth faults", "memory of this process"}) {
    EXPECT_THAT(names, HasSubstr(name));
  }
}

TEST(BenchDevice, BackendWithoutDeviceMemory_IsRefused) {
  const auto launcher = Launcher::start({});
  ASSERT_TRUE(launcher) << launcher.error().message;
  const auto figures = bench_device(**launcher, quick_options(), {});
  ASSERT_FALSE(figures);
  EXPECT_THAT(figures.error().message, HasSubstr("expected a backend with device memory"));
}

}  // namespace
}  // namespace hone::test
