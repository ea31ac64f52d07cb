// A reward that crashes, hangs or raises, in a whole episode service: the turn has no valid reward, and the next
// one is scored.
#include "episode/service_fixture.hpp"
#include "plugin_host/hosts.hpp"

namespace hone {
namespace {

class HostedReward : public test::ServiceTest {
 protected:
  void SetUp() override {}

  /// The service with a reward whose score() has this body.
  void make_with(const std::string& body, double call_s = 100) {
    ASSERT_TRUE(write_file(file(),
                           "import os, signal\n\nclass Reward:\n"
                           "    def score(self, episode):\n        turns = episode['turns']\n" +
                               body +
                               "        return [t['turn'] if t['scored'] else None for t "
                               "in turns]\n")
                    .ok());
    PluginHostOptions options = test::host_options();
    options.call_s = call_s;
    auto started = test::host(file(), options);
    ASSERT_TRUE(started.ok()) << started.error().message;
    plugin = std::move(*started);
    options_.reward = "mine";
    auto catalog = Catalog::open({test::task_list("tasks", {test::small_task()})}, {});
    KernelRefineOptions refine;
    refine.templates = test::templates_folder();
    std::vector<std::unique_ptr<Environment>> environments;
    environments.push_back(make_kernel_refine(refine).value());
    service = make_episode_service(options_, std::move(environments), *catalog, evaluator,
                                   [this](const std::string&, const Value& config) {
                                     return test::reward_of(plugin, config);
                                   })
                  .value();
  }
  std::filesystem::path file() const { return folder.path() / "mine.py"; }

  /// The first of two turns fails with this fault, the second is scored.
  void expect_fault(const std::string& fault) {
    const Value opened = reset();
    const Value failed = step(opened, 1, "a kernel");
    EXPECT_FALSE(test::at(failed, {"reward_valid"}).as_bool());
    EXPECT_TRUE(test::at(failed, {"reward"}).is_nil());
    EXPECT_EQ(test::at(failed, {"info", "fault"}).as_string(), fault);
    const Value good = step(opened, 2, "another");
    EXPECT_TRUE(test::at(good, {"reward_valid"}).as_bool());
    EXPECT_EQ(test::at(good, {"reward"}).as_double(), 2.0);
  }

  const test::TemporaryFolder folder;
  std::shared_ptr<const HostedPlugin> plugin;
};

TEST_F(HostedReward, Crash_LeavesTheTurnUnscored) {
  make_with("        if len(turns) == 1:\n            os.kill(os.getpid(), signal.SIGSEGV)\n");
  expect_fault("mine: score: its plugin host was killed by SIGSEGV during the call");
}

TEST_F(HostedReward, Hang_LeavesTheTurnUnscored) {
  make_with("        if len(turns) == 1:\n            signal.pause()\n", 2);
  expect_fault(
      "mine: score: no answer after 2 s, the limit (plugins.call_seconds); its plugin host "
      "was killed by SIGKILL");
}

TEST_F(HostedReward, Exception_LeavesTheTurnUnscored) {
  make_with("        if len(turns) == 1:\n            raise RuntimeError('not this one')\n");
  expect_fault("mine: score: mine.py:7: RuntimeError: not this one");
}

}  // namespace
}  // namespace hone
