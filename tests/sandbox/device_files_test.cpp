// What a backend may show to sandboxed processes.
#include "sandbox/device_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/launcher.hpp"

namespace hone {
namespace {

std::string node_trouble(const std::string& pattern) {
  const Status checked = check_device_files({{pattern}, {}});
  return checked ? "" : checked.error().message;
}

std::string folder_trouble(const std::string& folder) {
  const Status checked = check_device_files({{}, {folder}});
  return checked ? "" : checked.error().message;
}

TEST(DeviceFiles, Node_OutsideDevOrWithoutName_IsRefused) {
  for (const char* pattern :
       {"", "/", "*", "/dev", "/dev/", "/dev/*", "dev/card0", "/etc/shadow", "/dev/../etc/shadow",
        "/dev//card0", "/dev/dri/", "/dev/dri/*", "/dev/*/card0", "/device/card0", "/dev/c*d*"}) {
    EXPECT_EQ(node_trouble(pattern), "device node: found '" + std::string(pattern) +
                                         "', expected /dev/NAME or /dev/NAME*");
  }
}

TEST(DeviceFiles, Node_IsMissing_IsLeftOut) {
  const auto nodes = device_nodes({"/dev/no_such_node", "/dev/no_such_*", "/dev/no/such/node*"});
  ASSERT_TRUE(nodes) << nodes.error().message;
  EXPECT_TRUE(nodes->empty());
}

// These have the major number of /dev/mem and /dev/kmsg, and are on every machine.
TEST(DeviceFiles, Node_OfTheKernel_IsRefusedByName) {
  for (const char* pattern : {"/dev/zero", "/dev/null", "/dev/zer*", "/dev/urandom"}) {
    EXPECT_THAT(node_trouble(pattern),
                testing::HasSubstr(": found major number 1, expected one of a device's driver"))
        << pattern;
  }
}

TEST(DeviceFiles, Folder_OutsideThreeRoots_IsRefused) {
  for (const char* folder : {"/opt/driver", "/usr/local/driver/lib", "/sys/class/driver"})
    EXPECT_EQ(folder_trouble(folder), "");
  for (const char* folder : {"", "/", "/usr", "/opt/", "/sys/", "/etc", "/etc/ssl", "/var/lib",
                             "/usr/../etc", "/user/driver", "opt/driver"}) {
    EXPECT_EQ(folder_trouble(folder), "driver folder: found '" + std::string(folder) +
                                          "', expected a folder below /usr, /opt or /sys");
  }
}

TEST(DeviceFiles, Launcher_WithRefusedNode_DoesNotStart) {
  LauncherOptions options;
  options.device.nodes = {"/dev/zero"};
  const auto launcher = Launcher::start(options);
  ASSERT_FALSE(launcher);
  EXPECT_THAT(launcher.error().message, testing::HasSubstr("device node /dev/zero: "));
}

}  // namespace
}  // namespace hone
