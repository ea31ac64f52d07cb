// Cores of devices, cores for programs outside measurements, and checks of several devices.
#include "evaluate/options.hpp"

#include <gtest/gtest.h>

#include "evaluate/judge_start.hpp"

namespace hone {
namespace {

TEST(DefaultDevices, CoresThatDoNotStartAtZero_AreTheOnlyOnesUsed) {
  const auto few = default_devices({5, 7});
  ASSERT_EQ(few.size(), 1u);
  EXPECT_EQ(few[0].judge_cpu, 5);
  EXPECT_EQ(few[0].cores, (std::vector{7, 5}));

  const auto many = default_devices({2, 3, 4, 5, 8, 9, 10, 11, 12});
  ASSERT_EQ(many.size(), 2u);
  EXPECT_EQ(many[0].judge_cpu, 2);
  EXPECT_EQ(many[0].cores, (std::vector{3, 4, 5}));
  EXPECT_EQ(many[1].judge_cpu, 8);
  EXPECT_EQ(many[1].cores, (std::vector{9, 10, 11}));
  EXPECT_EQ(many[1].index, 1);
}

TEST(CoresForPrograms, CoresThatNoDeviceUses_ComeFirst) {
  const std::vector<DeviceSpec> devices{{0, 0, {1, 2, 3}}, {1, 4, {5, 6}}};
  EXPECT_EQ(cores_for_programs(devices, {0, 1, 2, 3, 4, 5, 6, 7, 8}), (std::vector{7, 8}));
}

TEST(CoresForPrograms, AllCoresUsed_AvoidsThoseThatTimeOneThread) {
  EXPECT_EQ(cores_for_programs(default_devices({0, 1, 2, 3, 4, 5, 6, 7}), {0, 1, 2, 3, 4, 5, 6, 7}),
            (std::vector{0, 2, 3, 4, 6, 7}));
  EXPECT_EQ(cores_for_programs(default_devices({0, 1}), {0, 1}), (std::vector{0}));
}

TEST(CoresForPrograms, OneCore_IsShared) {
  EXPECT_EQ(cores_for_programs(default_devices({0}), {0}), (std::vector{0}));
}

Value facts_of(const char* name, const char* driver, bool files_are_known) {
  Value facts = Value::map({{"name", name}, {"driver", driver}});
  if (files_are_known) facts.set("other_nodes", Value::array({"/dev/nvidia1"}));
  return facts;
}

EvaluatorOptions two_devices(bool runs_modules) {
  EvaluatorOptions options;
  options.backend = "cuda";
  options.devices = {{4, 0, {1}}, {6, 2, {3}}};
  if (runs_modules) options.toolchains["python"] = {};
  return options;
}

std::string why_unlike(const std::vector<Value>& facts, bool runs_modules) {
  const Status like = expect_like_devices(facts, two_devices(runs_modules));
  return like ? "" : like.error().message;
}

TEST(LikeDevices, OtherNameOrDriver_IsRefusedWithBoth) {
  const Value h200 = facts_of("H200", "CUDA 13.0", true);
  EXPECT_EQ(why_unlike({h200, h200}, true), "");
  EXPECT_EQ(why_unlike({h200, facts_of("A100", "CUDA 13.0", true)}, false),
            "cuda.devices: device 6 is A100, driver CUDA 13.0, and device 4 is H200, driver "
            "CUDA 13.0; expected the same name and driver; start one server for each kind of "
            "device");
  EXPECT_NE(why_unlike({h200, facts_of("H200", "CUDA 12.9", true)}, false), "");
}

TEST(LikeDevices, FilesAreNotKnown_AndModulesAreOn_IsRefused) {
  const Value unknown = facts_of("H200", "CUDA 13.0", false);
  EXPECT_EQ(why_unlike({unknown, unknown}, false), "");
  EXPECT_EQ(why_unlike({unknown}, true), "");
  EXPECT_EQ(why_unlike({unknown, unknown}, true),
            "cuda.devices: found 2 devices; expected one, because the device nodes of device 4 "
            "are unknown, so modules could use other devices; start one server for each device, "
            "each in its own container");
}

}  // namespace
}  // namespace hone
