// The journal's benchmark runs end to end, small; how fast is not a test's business.
#include <gtest/gtest.h>

#include "bench/client.hpp"
#include "bench/journal.hpp"
#include "episode/scripted_evaluator.hpp"
#include "places.hpp"
#include "plugin/registry.hpp"

namespace hone {
namespace {

TEST(BenchJournal, SmallRun_HasAllFigures) {
  std::string folder = (std::filesystem::temp_directory_path() / "hone-bench-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  RegistryOptions registry_options;
  registry_options.roots = {test::build_dir()};
  const Registry registry(registry_options);
  JournalBenchOptions options;
  options.host.open_reward = [&registry](const std::string& name, const Value& config) {
    return registry.open_reward(name, config);
  };
  options.host.rounds = 1;
  options.host.steps = 16;
  options.folder = folder;
  options.clients = 4;
  options.episodes = 20;
  options.turns = 200;
  options.forgotten = 20;
  std::vector<std::string> stages;
  options.say = [&](std::string_view what) { stages.emplace_back(what); };
  const auto figures = bench_journal(options);
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(figures.ok()) << figures.error().message;
  std::vector<std::string> names;
  for (const Value& figure : figures->as_array()) {
    names.push_back(figure.find("name")->as_string());
    EXPECT_GT(figure.find("baseline")->as_double(), 0) << names.back();
    // What the journal adds to a single step can drown in the noise of sixty-four of them.
    if (names.back().rfind("added", 0) != 0) {
      EXPECT_GT(figure.find("value")->as_double(), 0);
    }
  }
  EXPECT_EQ(names, (std::vector<std::string>{
                       "no-op steps with the journal, 4 clients",
                       "added to one step, against one synced page", "a no-op step in the journal",
                       "longest wait of a step while old episodes are forgotten, 4 clients",
                       "longest that forgetting kept the writer",
                       "restart until the first reply, 20 episodes, 200 steps",
                       "a step in that journal", "CURVE over plain, no-op step, 64 in flight"}));
  EXPECT_EQ(stages.size(), 4u);
}

TEST(BenchJournal, PathIsNotAFolder_IsAnError) {
  JournalBenchOptions options;
  options.folder = "/proc/nowhere";
  const auto figures = bench_journal(options);
  ASSERT_FALSE(figures.ok());
  EXPECT_NE(figures.error().message.find("/proc/nowhere"), std::string::npos)
      << figures.error().message;
}

}  // namespace
}  // namespace hone
