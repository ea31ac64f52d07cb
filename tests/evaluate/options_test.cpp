// Cores of devices, and those that are left for programs outside measurements.
#include "evaluate/options.hpp"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(CoresForPrograms, CoresThatNoDeviceUses_ComeFirst) {
  const std::vector<DeviceSpec> devices{{0, 0, {1, 2, 3}}, {1, 4, {5, 6}}};
  EXPECT_EQ(cores_for_programs(devices, {0, 1, 2, 3, 4, 5, 6, 7, 8}), (std::vector{7, 8}));
}

TEST(CoresForPrograms, AllCoresUsed_AvoidsThoseThatTimeOneThread) {
  EXPECT_EQ(cores_for_programs(default_devices(8), {0, 1, 2, 3, 4, 5, 6, 7}),
            (std::vector{0, 2, 3, 4, 6, 7}));
  EXPECT_EQ(cores_for_programs(default_devices(2), {0, 1}), (std::vector{0}));
}

TEST(CoresForPrograms, OneCore_IsShared) {
  EXPECT_EQ(cores_for_programs(default_devices(1), {0}), (std::vector{0}));
}

}  // namespace
}  // namespace hone
