// Libraries in plugin hosts: valid results arrive, and misbehaviour stays within the process.
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "plugin_host/hosts.hpp"

namespace hone {
namespace {

using test::episode;
using test::fixture;
using test::host;
using test::host_options;
using test::message_of;
using test::reward_of;

TEST(HostedLibrary, RewardPlugin_ScoresAsInProcess) {
  auto plugin = host(fixture("good"), host_options());
  ASSERT_TRUE(plugin.ok()) << plugin.error().message;
  EXPECT_EQ((*plugin)->name(), "good");
  EXPECT_EQ((*plugin)->version(), "1.2.3");
  EXPECT_EQ((*plugin)->factories(), std::vector<std::string>{"hone.reward/1"});
  EXPECT_EQ((*plugin)->runs_in(), "plugin host");
  const auto described = (*plugin)->describe("hone.reward/1");
  ASSERT_TRUE(described.ok()) << described.error().message;
  EXPECT_EQ(described->find("summary")->as_string(), "1 for correct");
  const auto reward = reward_of(*plugin, Value::map({{"weight", 2}}));
  ASSERT_TRUE(reward.ok()) << reward.error().message;
  const auto report = (*reward)->score(episode({1.5, 0, 2}));
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->turns[0]->reward, 2.0);
  EXPECT_FALSE(report->turns[1].has_value());
  EXPECT_EQ(report->return_to_date, 4.0);
  EXPECT_EQ((*reward)->version(), "1.2.3");
}

TEST(HostedLibrary, ConfigurationMistake_IsReturned) {
  auto plugin = host(fixture("good"), host_options());
  ASSERT_TRUE(plugin.ok()) << plugin.error().message;
  const auto reward = reward_of(*plugin, Value::map({{"wieght", 2}}));
  ASSERT_FALSE(reward.ok());
  EXPECT_EQ(reward.error().code, Code::kInvalidArgument);
  EXPECT_EQ(reward.error().message,
            "good: create: config: unknown key 'wieght'; did you mean 'weight'?");
}

struct Refused {
  const char* name;
  const char* message;
};
class HostedLibraryRefused : public testing::TestWithParam<Refused> {};

TEST_P(HostedLibraryRefused, BrokenLibrary_IsRefusedWithTheReason) {
  const auto plugin = host(fixture(GetParam().name), host_options());
  ASSERT_FALSE(plugin.ok());
  EXPECT_NE(plugin.error().message.find(GetParam().message), std::string::npos)
      << plugin.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    Fixtures, HostedLibraryRefused,
    testing::Values(Refused{"future_abi", "future_abi.so: plugin ABI 99.0, host ABI 1.0"},
                    Refused{"no_entry", "no_entry.so: exports no hone_plugin_entry"},
                    Refused{"claims_too_much", "entry claims 4096 bytes, found"},
                    Refused{"missing_describe", "function describe is null"},
                    Refused{"small_table", "of 16 bytes, expected at least 40"},
                    Refused{"nowhere", "nowhere.so: no such file"}),
    [](const auto& parameter) { return std::string(parameter.param.name); });

/// A reward of a fixture and what became of its first score.
std::string first_score(const std::string& name, PluginHostOptions options,
                        const Value& config = Value::map()) {
  auto plugin = host(fixture(name), std::move(options));
  if (!plugin) return plugin.error().message;
  const auto reward = reward_of(*plugin, config);
  return reward ? message_of((*reward)->score(episode({2}))) : reward.error().message;
}

TEST(HostedLibrary, Misbehaviour_IsAnError) {
  EXPECT_EQ(first_score("crashes_in_score", host_options()),
            "crashes_in_score: score: its plugin host was killed by SIGSEGV during the call");
  EXPECT_EQ(first_score("crashes_in_create", host_options()),
            "crashes_in_create: create: its plugin host was killed by SIGSEGV during the call");
  EXPECT_EQ(first_score("exits", host_options()),
            "exits: create: its plugin host exited with status 0 during the call");
  EXPECT_EQ(first_score("throws", host_options()),
            "throws: score: threw across the ABI: thrown on purpose");
  EXPECT_EQ(first_score("null_factory", host_options()), "null_factory.so: offers no reward");
}

TEST(HostedLibrary, Hang_IsKilled) {
  PluginHostOptions options = host_options();
  options.call_s = 0.2;
  EXPECT_EQ(first_score("hangs", options),
            "hangs: score: no answer after 0.2 s, the limit (plugins.call_seconds); its "
            "plugin host was killed by "
            "SIGKILL");
}

class HostedGarbage : public testing::TestWithParam<Refused> {};

TEST_P(HostedGarbage, InvalidAnswer_IsAnError) {
  EXPECT_EQ(first_score("garbage_output", host_options(), Value::map({{"kind", GetParam().name}})),
            "garbage_output: score: " + std::string(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, HostedGarbage,
    testing::Values(Refused{"bytes", "wrote messagepack: broken at byte 0"},
                    Refused{"array", "output: expected a map, found array"},
                    Refused{"nan", "return: expected a finite number, found nan"},
                    Refused{"short", "turns: expected a list of 1, found one of 0"},
                    Refused{"flood", "wrote more than 67108864 bytes"},
                    Refused{"code", "returned code 77, expected 0 to 9"}),
    [](const auto& parameter) { return std::string(parameter.param.name); });

TEST(HostedLibrary, DatasetPlugin_GivesTasksAndUsesTheHostsServices) {
  const auto lines = std::make_shared<test::Lines>();
  const test::TemporaryFolder folder;
  PluginHostOptions options = host_options(lines);
  options.workdir = folder.path();
  auto plugin = host(fixture("dataset_good"), options);
  ASSERT_TRUE(plugin.ok()) << plugin.error().message;
  auto calls = (*plugin)->open_dataset(Value::map({{"yaml", "title: From YAML\n"}}));
  ASSERT_TRUE(calls.ok()) << calls.error().message;
  const Dataset dataset("mine", (*plugin)->name(), std::move(*calls));
  const auto entries = dataset.list();
  ASSERT_TRUE(entries.ok()) << entries.error().message;
  EXPECT_EQ((*entries)[0].title, "From YAML");
  EXPECT_EQ(dataset.get("copy")->dataset, "mine");
  const auto none = dataset.get("cpoy");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, Code::kNotFound);
  EXPECT_EQ(none.error().message,
            "dataset_good: get: no task is called 'cpoy'; did you mean 'copy'?");
  EXPECT_TRUE(lines->has("my folder is " + (folder.path() / "dataset_good").string()));
  const auto mistaken = (*plugin)->open_dataset(Value::map({{"yaml", "titel: x\n"}}));
  ASSERT_FALSE(mistaken.ok());
  EXPECT_NE(mistaken.error().message.find("config.yaml:1"), std::string::npos)
      << mistaken.error().message;
}

TEST(HostedLibrary, KilledHost_IsRestarted) {
  auto plugin = host(fixture("good"), host_options());
  ASSERT_TRUE(plugin.ok()) << plugin.error().message;
  const auto reward = reward_of(*plugin, Value::map({{"weight", 3}}));
  ASSERT_TRUE(reward.ok()) << reward.error().message;
  for (int round = 0; round < 5; ++round) {
    const pid_t pid = (*plugin)->pid();
    ASSERT_GT(pid, 0);
    ASSERT_EQ(kill(pid, SIGKILL), 0);
    EXPECT_EQ(message_of((*reward)->score(episode({2}))),
              "good: score: its plugin host was killed by SIGKILL during the call");
    const auto report = (*reward)->score(episode({2}));
    ASSERT_TRUE(report.ok()) << report.error().message;  // a success forgets the crashes before
    EXPECT_EQ(report->return_to_date, 3.0);
    EXPECT_NE((*plugin)->pid(), pid);
  }
}

TEST(HostedLibrary, ThreeCrashesInARow_DelayTheRestart) {
  std::atomic<double> now_s{1000};
  PluginHostOptions options = host_options();
  options.now_s = [&now_s] { return now_s.load(); };
  auto plugin = host(fixture("crashes_in_score"), options);
  ASSERT_TRUE(plugin.ok()) << plugin.error().message;
  const auto reward = reward_of(*plugin);
  ASSERT_TRUE(reward.ok()) << reward.error().message;
  const auto crash = [&] { return message_of((*reward)->score(episode({2}))); };
  for (int i = 0; i < 3; ++i) EXPECT_NE(crash().find("SIGSEGV"), std::string::npos);
  const auto refused = (*reward)->score(episode({2}));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kUnavailable);
  EXPECT_EQ(refused.error().message,
            "crashes_in_score: score: its plugin host ended 3 times in a row; it restarts in 1 s");
  now_s = 1001;
  EXPECT_NE(crash().find("SIGSEGV"), std::string::npos);
  EXPECT_NE(crash().find("ended 4 times in a row; it restarts in 2 s"), std::string::npos);
  EXPECT_EQ((*plugin)->pid(), -1);
}

TEST(HostedLibrary, ManyThreads_EachGetsItsOwnScore) {
  auto plugin = host(fixture("good"), host_options());
  ASSERT_TRUE(plugin.ok()) << plugin.error().message;
  const auto one = reward_of(*plugin), two = reward_of(*plugin, Value::map({{"weight", 2}}));
  ASSERT_TRUE(one.ok() && two.ok());
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      const Reward& reward = t % 2 == 0 ? **one : **two;
      for (int i = 1; i <= 40; ++i) {
        const std::vector<double> turns(static_cast<std::size_t>(i % 5 + 1), 2.0);
        const auto report = reward.score(episode(turns));
        const double expected = static_cast<double>(turns.size()) * (t % 2 == 0 ? 1 : 2);
        if (!report || report->return_to_date != expected) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(HostedLibrary, HostStartedByAThread_OutlivesIt) {
  const auto starter = std::make_shared<HostStarter>();
  std::shared_ptr<const HostedPlugin> plugin;
  std::thread([&] {
    auto started = HostedPlugin::start(fixture("good"), host_options(), starter);
    ASSERT_TRUE(started.ok()) << started.error().message;
    plugin = std::move(*started);
  }).join();
  const pid_t pid = plugin->pid();
  const auto reward = reward_of(plugin);
  ASSERT_TRUE(reward.ok()) << reward.error().message;
  EXPECT_TRUE((*reward)->score(episode({2})).ok());
  EXPECT_EQ(plugin->pid(), pid);
}

/// A process that has a plugin host, says its id and hangs; killed, it must take the host along.
TEST(HostedLibrary, DeathOfHone_EndsTheHost) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t hone = fork();
  ASSERT_GE(hone, 0);
  if (hone == 0) {
    PluginHostOptions options = host_options();
    auto plugin = host(fixture("hangs"), options);
    if (!plugin) _exit(1);
    const pid_t pid = (*plugin)->pid();
    const auto reward = reward_of(*plugin);
    if (!reward || write(ends[1], &pid, sizeof pid) != sizeof pid) _exit(1);
    (void)(*reward)->score(episode({2}));
    _exit(0);
  }
  close(ends[1]);
  pid_t pid = 0;
  ASSERT_EQ(read(ends[0], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
  close(ends[0]);
  const UniqueFd watched(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  ASSERT_TRUE(watched);
  kill(hone, SIGKILL);
  waitpid(hone, nullptr, 0);
  pollfd polled{watched.get(), POLLIN, 0};
  EXPECT_EQ(poll(&polled, 1, 60'000), 1) << "the plugin host outlived hone";
}

}  // namespace
}  // namespace hone
