// Registry: plugins that a scan finds or refuses, and opening them by name.
#include "plugin/registry.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "places.hpp"
#include "plugin/fixtures.hpp"

namespace hone {
namespace {

using test::fixture;

const PluginInfo* find(const Registry& registry, std::string_view file) {
  for (const PluginInfo& info : registry.plugins()) {
    if (info.path.filename() == file) return &info;
  }
  return nullptr;
}

TEST(Registry, ShippedPlugins_AreFound) {
  const Registry registry({{test::build_dir()}, {}, {}});
  std::vector<std::string> names;
  for (const PluginInfo& info : registry.plugins()) {
    if (info.kind == PluginKind::kReward && info.error.empty()) names.push_back(info.name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"dr_kernel", "fast_p", "kevin", "tritonforge"}));
  const auto described = registry.describe(PluginKind::kReward, "kevin");
  ASSERT_TRUE(described.ok()) << described.error().message;
  EXPECT_EQ(described->find("summary")->as_string(), "0.3 if correct, plus the speedup if correct");
}

TEST(Registry, UnknownName_SuggestsTheNearest) {
  const Registry registry({{test::build_dir()}, {}, {}});
  const auto reward = registry.open_reward("kevin", Value::map({{"gamma", 0.5}}));
  ASSERT_TRUE(reward.ok()) << reward.error().message;
  EXPECT_EQ((*reward)->name(), "kevin");
  const auto near = registry.open_reward("kevn", Value::map());
  ASSERT_FALSE(near.ok());
  EXPECT_EQ(near.error().code, Code::kNotFound);
  EXPECT_EQ(near.error().message, "unknown reward 'kevn'; did you mean 'kevin'?");
}

TEST(Registry, RefusedPlugins_AreListedWithTheReason) {
  const Registry registry({{}, {fixture("good").parent_path(), "/nowhere/x.so"}, {}});
  const PluginInfo* good = find(registry, "good.so");
  ASSERT_NE(good, nullptr);
  EXPECT_EQ(good->error, "");
  EXPECT_EQ(good->version, "1.2.3");
  const PluginInfo* dataset = find(registry, "dataset_good.so");
  ASSERT_NE(dataset, nullptr);
  EXPECT_EQ(dataset->kind, PluginKind::kDataset);
  EXPECT_EQ(find(registry, "future_abi.so")->error, "future_abi.so: plugin ABI 99.0, host ABI 1.0");
  EXPECT_EQ(find(registry, "null_factory.so")->error,
            "null_factory.so: offers no reward, dataset, environment or backend");
  EXPECT_EQ(find(registry, "missing_describe.so")->error,
            "missing_describe.so: function describe is null");
  EXPECT_EQ(find(registry, "x.so")->error, "x.so: no such file: /nowhere/x.so");
  const auto refused = registry.open_reward("future_abi", Value::map());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message,
            "reward 'future_abi' was refused: future_abi.so: plugin ABI 99.0, host ABI 1.0");
}

TEST(Registry, SecondPluginWithAName_IsRefused) {
  const test::TemporaryFolder folder;
  std::filesystem::copy(fixture("good"), folder.path() / "other.so");
  const Registry registry({{}, {fixture("good"), folder.path()}, {}});
  ASSERT_EQ(registry.plugins().size(), 2u);
  EXPECT_EQ(registry.plugins()[1].error,
            "other.so: the name 'good' is taken by " + fixture("good").string());
  EXPECT_TRUE(registry.open_reward("good", Value::map()).ok());
}

TEST(Registry, EachPlugin_GetsItsOwnFolder) {
  const test::TemporaryFolder folder;
  HostOptions host;
  host.workdir = folder.path();
  const Registry registry({{}, {fixture("dataset_good")}, host});
  const auto dataset = registry.open_dataset("dataset_good", "mine", Value::map());
  ASSERT_TRUE(dataset.ok()) << dataset.error().message;
  EXPECT_TRUE(std::filesystem::is_directory(folder.path() / "dataset_good"));
}

}  // namespace
}  // namespace hone
