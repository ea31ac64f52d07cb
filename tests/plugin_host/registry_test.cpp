// User plugins among shipped ones: in which process each runs, and what is refused.
#include "plugin/registry.hpp"

#include <gtest/gtest.h>

#include "conformance/hosted_checks.hpp"
#include "places.hpp"
#include "plugin_host/hosts.hpp"

namespace hone {
namespace {

using test::episode;
using test::fixture;
using test::host_options;

constexpr const char* kReward = R"py(class Reward:
    """Seven, always."""

    def score(self, episode):
        return [7 if turn["scored"] else None for turn in episode["turns"]]
)py";

class HostedRegistry : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& text) {
    EXPECT_TRUE(write_file(folder.path() / name, text).ok());
    return folder.path() / name;
  }
  Registry open(std::vector<std::filesystem::path> extra, bool in_process = false) {
    RegistryOptions options;
    options.roots = {test::build_dir()};
    options.extra = std::move(extra);
    options.start_process = open_in_plugin_hosts(host_options());
    options.in_process = in_process;
    return Registry(std::move(options));
  }
  static const PluginInfo& last(const Registry& registry) { return registry.plugins().back(); }

  const test::TemporaryFolder folder;
};

/// What hone ships: three backends, four rewards, eight datasets.
constexpr std::size_t kShipped = 15;

TEST_F(HostedRegistry, UserPlugins_RunInPluginHosts) {
  const auto python = write("seven.py", kReward);
  const Registry registry = open({fixture("good"), python, python});
  ASSERT_EQ(registry.plugins().size(), kShipped + 2u) << "named twice is one plugin";
  for (const PluginInfo& info : registry.plugins()) {
    EXPECT_EQ(info.error, "");
    const bool library =
        info.path.string().starts_with((test::build_dir() / "plugins/").string()) &&
        info.path.extension() == ".so";
    EXPECT_EQ(info.runs_in == "hone", library) << info.name << " runs in " << info.runs_in;
  }
  for (const char* name : {"good", "seven"}) {
    const auto reward = registry.open_reward(name, Value::map());
    ASSERT_TRUE(reward.ok()) << reward.error().message;
    EXPECT_TRUE((*reward)->score(episode({2})).ok());
  }
  EXPECT_EQ(registry.describe(PluginKind::kReward, "seven")->find("summary")->as_string(),
            "Seven, always.");
  EXPECT_EQ(registry.name_of(python.string()).value(), "seven");
  EXPECT_EQ(registry.name_of("kevin").value(), "kevin");
}

TEST_F(HostedRegistry, InProcess_LoadsUserLibraries) {
  const Registry registry = open({fixture("good"), write("seven.py", kReward)}, true);
  EXPECT_EQ(registry.plugins()[kShipped].runs_in, "hone");
  EXPECT_TRUE(registry.plugins()[kShipped + 1].runs_in.starts_with("plugin host, Python"));
}

TEST_F(HostedRegistry, ShippedPythonPlugin_StartsAtItsFirstCall) {
  int started = 0;
  RegistryOptions options;
  options.roots = {test::build_dir()};
  options.start_process = [&, open = open_in_plugin_hosts(host_options())](const auto& path) {
    ++started;
    return open(path);
  };
  const Registry registry(std::move(options));
  const auto names = [&] {
    std::vector<std::string> found;
    for (const PluginInfo& info : registry.plugins()) {
      if (info.path.extension() == ".py") found.push_back(info.name);
    }
    return found;
  };
  EXPECT_EQ(names(),
            (std::vector<std::string>{"ai_cuda_engineer", "flashinfer", "gpumode", "kernelbench",
                                      "kernelbook", "modules", "references"}));
  EXPECT_EQ(started, 0);
  ASSERT_TRUE(registry.describe(PluginKind::kDataset, "kernelbench").ok());
  const auto nowhere =
      registry.open_dataset("kernelbench", "mine", Value::map({{"path", "/nowhere"}}));
  ASSERT_FALSE(nowhere.ok());
  EXPECT_EQ(nowhere.error().message, "kernelbench: open: /nowhere: no such file or folder");
  EXPECT_EQ(started, 1);
}

TEST_F(HostedRegistry, UnusableFile_IsRefusedWithTheReason) {
  EXPECT_EQ(last(open({write("broken.py", "def f(:\n")})).error,
            "broken.py:1: SyntaxError: invalid syntax");
  EXPECT_EQ(last(open({write("Bad-Name.py", kReward)})).error,
            "Bad-Name.py: the file's name is the plugin's: expected [a-z0-9_]+.py");
  EXPECT_EQ(last(open({fixture("null_factory")})).error,
            "null_factory.so: offers no reward, dataset, environment or backend");
  EXPECT_EQ(last(open({"/nowhere/x.py"})).error, "x.py: no such file: /nowhere/x.py");
  const auto kevin = write("kevin.py", kReward);
  EXPECT_TRUE(last(open({kevin})).error.starts_with("kevin.py: the name 'kevin' is taken by "));
  const test::TemporaryFolder other;
  const auto backend = other.path() / "cpu2.so";
  std::filesystem::copy(test::build_dir() / "plugins/backends/cpu.so", backend);
  EXPECT_EQ(last(open({backend})).error,
            "cpu2.so: a backend must run in hone's own processes; to trust it, set "
            "plugins.in_process: true");
}

TEST_F(HostedRegistry, PathFromAClient_IsRefused) {
  const auto python = write("seven.py", kReward);
  const Registry registry = open({});
  for (const std::string& name : {python.string(), std::string("../seven"),
                                  std::string("./seven.py"), std::string("/proc/self/exe")}) {
    const auto reward = registry.open_reward(name, Value::map());
    ASSERT_FALSE(reward.ok());
    EXPECT_EQ(reward.error().code, Code::kNotFound) << reward.error().message;
  }
}

TEST_F(HostedRegistry, WithoutPluginHosts_PythonFilesAreRefused) {
  const Registry registry({{}, {write("seven.py", kReward)}, {}});
  EXPECT_EQ(last(registry).error, "seven.py: this program cannot run Python plugins");
}

/// "passed reward.score", …: of checks that did not pass, with their message.
std::vector<std::string> not_passed(const ValidationReport& report) {
  std::vector<std::string> list;
  for (const ValidatedCheck& check : report.checks) {
    if (check.result.outcome == CheckOutcome::kPassed) continue;
    list.push_back(std::string(check_outcome_name(check.result.outcome)) + " " + check.id + ": " +
                   check.result.message);
  }
  return list;
}

TEST_F(HostedRegistry, PythonTemplates_PassValidation) {
  for (const char* kind : {"reward", "dataset"}) {
    const auto path = test::source_dir() / "plugins/template" / (std::string(kind) + ".py");
    const auto report = validate_python(path, host_options(), Value::map());
    ASSERT_TRUE(report.ok()) << report.error().message;
    EXPECT_EQ(not_passed(*report), std::vector<std::string>());
    EXPECT_GE(report->checks.size(), 6u);
    EXPECT_TRUE(report->version.starts_with("1.0.0+"));
  }
}

TEST_F(HostedRegistry, Validation_FindsBrokenRules) {
  const auto validated = [&](const std::string& source) {
    const auto report = validate_python(write("mine.py", source), host_options(), Value::map());
    return report ? not_passed(*report) : std::vector<std::string>{report.error().message};
  };
  const std::string head =
      "import os\n\nclass Reward:\n    range = [0, 1]\n    count = 0\n\n"
      "    def score(self, episode):\n";
  const auto changing = validated(head +
                                  "        Reward.count += 0.0001\n        return [Reward.count "
                                  "if t['scored'] else None for t in episode['turns']]\n");
  ASSERT_EQ(changing.size(), 3u);
  EXPECT_EQ(changing[0], "skipped reward.wrong_type: has no parameters");
  EXPECT_EQ(changing[1],
            "failed reward.pure: sample 0: expected the same answer, found another the "
            "second time");
  const auto outside = validated(head +
                                 "        return [2 if t['scored'] else None for t in "
                                 "episode['turns']]\n");
  ASSERT_EQ(outside.size(), 2u);
  EXPECT_EQ(outside[1],
            "failed reward.score: sample 0: expected a reward from 0.000000 to 1.000000, "
            "found 2.000000");
  const auto dying = validated(head + "        os._exit(0)\n");
  ASSERT_EQ(dying.size(), 5u);
  EXPECT_EQ(dying[1],
            "crashed reward.score: sample 0: mine: score: its plugin host exited with "
            "status 0 during the call");
  const auto strict = validated(
      head +
      "        names = 'no_code rejected build_failed crashed timed_out out_of_memory wrong '\\\n"
      "            'cheated correct'\n"
      "        return [names.index(t['verdict']['outcome']) / 99 if t['scored'] else None\n"
      "                for t in episode['turns']]\n");
  ASSERT_EQ(strict.size(), 2u);
  EXPECT_EQ(strict[1],
            "failed reward.later_outcome: an outcome that a later version of hone may add: mine: "
            "score: mine.py:10: ValueError: substring not found");
  EXPECT_EQ(validated("import nothing_there\n"),
            (std::vector<std::string>{
                "failed loads: mine.py:1: ModuleNotFoundError: No module named 'nothing_there'"}));
}

}  // namespace
}  // namespace hone
