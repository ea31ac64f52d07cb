// Interpreters with an unusual start, and interpreters that exit before they answer.
#include <gtest/gtest.h>

#include "plugin_host/hosts.hpp"

namespace hone::test {
namespace {

constexpr const char* kReward =
    "class Reward:\n    def score(self, episode):\n        return [1]\n";

TEST(Interpreter, IsolatedWithoutItsScriptsFolder_LoadsAPlugin) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "mine.py", python = folder.path() / "python";
  ASSERT_TRUE(write_file(file, kReward).ok());
  ASSERT_TRUE(write_file(python, "#!/bin/sh\nexec python3 -I -S \"$@\"\n").ok());
  std::filesystem::permissions(python, std::filesystem::perms::owner_all);
  auto options = host_options(std::make_shared<Lines>());
  options.python = python;
  const auto plugin = host(file, options);
  ASSERT_TRUE(plugin) << plugin.error().message;
}

TEST(Interpreter, ThatEndsBeforeItAnswers_IsAnErrorWithItsLastLine) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "mine.py";
  ASSERT_TRUE(write_file(file, "import os\nprint('no\\nlicence', flush=True)\nos._exit(3)\n").ok());
  const auto plugin = host(file, host_options(std::make_shared<Lines>()));
  ASSERT_FALSE(plugin);
  EXPECT_EQ(plugin.error().message,
            "mine.py: hello: its plugin host exited with status 3 during the call; the last line "
            "that it printed: licence");
}

}  // namespace
}  // namespace hone::test
