// What a backend may show to sandboxed processes.
#include "sandbox/device_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

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

/// Character devices of a driver that does not exist, in /dev.
class NodesOfNoDriver {
 public:
  NodesOfNoDriver() {
    for (unsigned i = 0; i < 2; ++i) {
      paths.push_back(pattern_ + std::to_string(i));
      made = ::mknod(paths[i].c_str(), S_IFCHR | 0666, makedev(kMajor, i)) == 0 && made;
    }
  }
  ~NodesOfNoDriver() {
    for (const std::string& path : paths) ::unlink(path.c_str());
  }
  std::string pattern() const { return pattern_ + "*"; }

  std::vector<std::string> paths;
  bool made = true;

 private:
  static constexpr unsigned kMajor =
      511;  // the last major number that Linux gives a driver when it loads
  const std::string pattern_ = "/dev/hone_test_" + std::to_string(::getpid()) + "_";
};

TEST(DeviceFiles, HiddenNode_IsNotInTheJail) {
  const NodesOfNoDriver nodes;
  if (!nodes.made) GTEST_SKIP() << "device nodes cannot be made here";
  LauncherOptions options;
  options.device.nodes = {nodes.pattern()};
  const auto launcher = Launcher::start(options);
  ASSERT_TRUE(launcher) << launcher.error().message;
  if ((*launcher)->level() < IsolationLevel::kPrivate) GTEST_SKIP() << "needs a private root";
  const auto seen_without = [&](std::vector<std::string> hidden) {
    SpawnRequest request;
    request.jail = Jail::kBuilder;
    request.program = "/usr/bin/ls";
    request.arguments = {"/dev"};
    request.device = true;
    request.hidden_nodes = std::move(hidden);
    const auto process = (*launcher)->spawn(request);
    if (!process) return process.error().message;
    const auto exit = (*process)->wait(10);
    return exit ? exit->output : exit.error().message;
  };
  const auto name = [&](std::size_t i) { return testing::HasSubstr(nodes.paths[i].substr(5)); };
  EXPECT_THAT(seen_without({}), testing::AllOf(name(0), name(1)));
  EXPECT_THAT(seen_without({nodes.paths[1]}), testing::AllOf(name(0), testing::Not(name(1))));
  EXPECT_THAT(seen_without(nodes.paths),
              testing::AllOf(testing::Not(name(0)), testing::Not(name(1))));
}

}  // namespace
}  // namespace hone
