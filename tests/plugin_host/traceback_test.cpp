// Log lines of a Python plugin that raises an error in each call.
#include <gtest/gtest.h>

#include "plugin_host/hosts.hpp"

namespace hone::test {
namespace {

class Tracebacks : public testing::Test {
 protected:
  /// Scores `times` times by a reward whose score() has this body, and gives the last message.
  std::string score(const std::string& body, int times) {
    const std::filesystem::path file = folder_.path() / "mine.py";
    const Status written =
        write_file(file, "class Reward:\n    def score(self, episode):\n" + body);
    EXPECT_TRUE(written.ok());
    const auto plugin = host(file, host_options(lines_));
    if (!plugin) return plugin.error().message;
    const auto reward = reward_of(*plugin);
    if (!reward) return reward.error().message;
    std::string message;
    for (int i = 0; i < times; ++i) message = message_of((*reward)->score(episode({2})));
    return message;
  }
  std::size_t count(std::string_view words) const {
    std::size_t found = 0;
    for (const std::string& line : lines_->all()) found += line.find(words) != line.npos ? 1u : 0u;
    return found;
  }

  const TemporaryFolder folder_;
  const std::shared_ptr<Lines> lines_ = std::make_shared<Lines>();
};

TEST_F(Tracebacks, SameErrorInEachCall_IsLoggedOnceAndThenCounted) {
  EXPECT_EQ(score("        return [1 / 0]\n", 20),
            "mine: score: mine.py:3: ZeroDivisionError: division by zero");
  EXPECT_EQ(count("Traceback"), 1u);
  EXPECT_EQ(count("ZeroDivisionError: division by zero"), 1u);
  EXPECT_EQ(count("ZeroDivisionError: 10 times by now; its traceback is above"), 1u);
}

TEST_F(Tracebacks, ErrorsAtTwoPlaces_AreLoggedOnceEach) {
  EXPECT_NE(score("        self.calls = getattr(self, 'calls', 0) + 1\n"
                  "        if self.calls % 2:\n            return [1 / 0]\n"
                  "        return [int('x')]\n",
                  8),
            "(succeeded)");
  EXPECT_EQ(count("Traceback"), 2u);
}

TEST_F(Tracebacks, MessageWithAnotherTextEachTime_IsOneError) {
  score(
      "        self.calls = getattr(self, 'calls', 0) + 1\n"
      "        raise KeyError(self.calls)\n",
      9);
  EXPECT_EQ(count("Traceback"), 1u);
}

}  // namespace
}  // namespace hone::test
