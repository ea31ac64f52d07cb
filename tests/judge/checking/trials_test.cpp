// The shapes and families that a step checks.
#include "judge/checking/trials.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "judge/sample_task.hpp"

namespace hone {
namespace {

TEST(Trials, Trials_CoverShapesAndFamilies) {
  const Task task = test::sample_task();
  const auto trials = plan_trials(task, 5);
  ASSERT_EQ(trials.size(), 15u);  // five families on each of three small shapes
  std::set<std::size_t> families;
  for (std::size_t i = 0; i < 5; ++i) families.insert(trials[i].family);
  EXPECT_EQ(families.size(), 5u);
  EXPECT_EQ(trials[0].dims.at("n"), 8);
  EXPECT_TRUE(trials[5].hidden);
  EXPECT_EQ(shape_text(trials[5]), "a hidden shape");
  EXPECT_EQ(shape_text(trials[10]), "n=1000");
  EXPECT_EQ(trials[10].placement, Placement::kCanaries);
}

TEST(Trials, HiddenShapes_AreDrawnAnew) {
  const Task task = test::sample_task();
  std::set<std::int64_t> drawn;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const std::int64_t n = plan_trials(task, seed)[5].dims.at("n");
    EXPECT_TRUE(n >= 1 && n <= 99);
    EXPECT_EQ(n, plan_trials(task, seed)[5].dims.at("n"));
    drawn.insert(n);
  }
  EXPECT_GT(drawn.size(), 20u);
}

TEST(TimedFamilies, AnyBlock_HasEachFamilyOnce) {
  const Task task = test::sample_task();
  const std::size_t count = task.families.size();
  ASSERT_EQ(timed_family_count(task, {}), count);
  std::set<std::vector<std::size_t>> orders;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (std::size_t block = 0; block < 3; ++block) {
      std::vector<std::size_t> families = timed_families(task, seed, block * count, count, {});
      orders.insert(families);
      std::sort(families.begin(), families.end());
      for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(families[i], i);
    }
  }
  EXPECT_GT(orders.size(), 20u) << "the order is secret";
}

}  // namespace
}  // namespace hone
