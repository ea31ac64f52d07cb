// The benchmarks of the journal and of the web page run end to end, small; how fast is not a test's business.
#include <gtest/gtest.h>

#include "base/scratch_folder.hpp"
#include "bench/client.hpp"
#include "bench/journal.hpp"
#include "bench/web.hpp"
#include "episode/scripted_evaluator.hpp"
#include "places.hpp"
#include "plugin/registry.hpp"

namespace hone {
namespace {

/// A small run.
class BenchOfJournals : public ::testing::Test {
 protected:
  void SetUp() override {
    auto folder = ScratchFolder::make();
    ASSERT_TRUE(folder.ok()) << folder.error().message;
    folder_ = std::move(*folder);
    RegistryOptions plugins;
    plugins.roots = {test::build_dir()};
    registry_ = std::make_unique<Registry>(plugins);
    options_.host.open_reward = [this](const std::string& name, const Value& config) {
      return registry_->open_reward(name, config);
    };
    options_.host.rounds = 1;
    options_.host.steps = 16;
    options_.folder = folder_.path();
    options_.clients = 4;
    options_.episodes = 20;
    options_.turns = 200;
    options_.forgotten = 20;
    options_.say = [this](std::string_view what) { stages_.emplace_back(what); };
  }
  ScratchFolder folder_;
  std::unique_ptr<const Registry> registry_;
  std::vector<std::string> stages_;
  JournalBenchOptions options_;
};

std::vector<std::string> names_of(const Value& figures) {
  std::vector<std::string> names;
  for (const Value& figure : figures.as_array()) names.push_back(figure.find("name")->as_string());
  return names;
}

TEST_F(BenchOfJournals, Web_HasAllFigures) {
  const auto figures = bench_web({options_, 1, (test::build_dir() / "hone").string()});
  ASSERT_TRUE(figures.ok()) << figures.error().message;
  EXPECT_EQ(names_of(*figures), (std::vector<std::string>{
                                    "first screen of a journal with 20 episodes, 200 steps",
                                    "one episode of that journal",
                                    "speedup and reward over time of that journal, first request",
                                    "figures of all tasks of that journal, first request",
                                    "repeated steps of 4 clients with 1 browser",
                                    "repeated steps of 4 clients with 50 browsers",
                                    "requests of 50 browsers meanwhile that failed",
                                    "the live view's data, p99 with 50 browsers over p50 with one",
                                    "peak memory of the web process"}));
  for (const Value& figure : figures->as_array()) {
    const std::string name = figure.find("name")->as_string();
    if (name.ends_with("failed")) continue;
    EXPECT_GT(figure.find("value")->as_double(), 0) << name;
  }
  EXPECT_EQ(stages_.size(), 3u);
}

TEST_F(BenchOfJournals, WebThatDoesNotStart_IsAnError) {
  const auto figures = bench_web({options_, 0.3, "/proc/nowhere"});
  ASSERT_FALSE(figures.ok());
  EXPECT_NE(figures.error().message.find("/proc/nowhere"), std::string::npos)
      << figures.error().message;
}

TEST_F(BenchOfJournals, Journal_HasAllFigures) {
  const auto figures = bench_journal(options_);
  ASSERT_TRUE(figures.ok()) << figures.error().message;
  for (const Value& figure : figures->as_array()) {
    const std::string name = figure.find("name")->as_string();
    EXPECT_GT(figure.find("baseline")->as_double(), 0) << name;
    // What the journal adds to a single step can drown in the noise of sixty-four of them.
    if (!name.starts_with("added")) {
      EXPECT_GT(figure.find("value")->as_double(), 0) << name;
    }
  }
  EXPECT_EQ(names_of(*figures),
            (std::vector<std::string>{
                "no-op steps with the journal, 4 clients",
                "added to one step, against one synced page", "a no-op step in the journal",
                "longest wait of a step while old episodes are forgotten, 4 clients",
                "longest that forgetting kept the writer",
                "restart until the first reply, 20 episodes, 200 steps", "a step in that journal",
                "CURVE over plain, no-op step, 64 in flight"}));
  EXPECT_EQ(stages_.size(), 4u);
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
