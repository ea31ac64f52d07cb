// Rewards and speedups by task: a bounded number of tasks, and counters that never decrease.
#include "episode/task_counters.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace hone {
namespace {

TurnFacts scored(double reward, double speedup) { return {"correct", true, speedup, reward}; }

std::int64_t count_of(const TaskCounters& counters, const std::string& task) {
  const Value value = counters.value();
  const Value* of = value.find(task);
  return of == nullptr ? -1 : of->find("reward")->find("count")->as_int();
}

TEST(TaskCounters, Turns_AreCountedInBuckets) {
  TaskCounters counters;
  counters.count("t/a", scored(1.5, 2));
  counters.count("t/a", scored(-3, std::numeric_limits<double>::quiet_NaN()));
  counters.count("t/a", {});
  const Value value = counters.value();
  const Value& of = *value.find("t/a");
  EXPECT_EQ(of.find("unscored")->as_int(), 1);
  EXPECT_EQ(of.find("reward")->find("count")->as_int(), 2);
  EXPECT_EQ(of.find("reward")->find("sum")->as_double(), -1.5);
  EXPECT_EQ(of.find("reward")->find("buckets")->find("-1")->as_int(), 1);
  EXPECT_EQ(of.find("reward")->find("buckets")->find("1.5")->as_int(), 2);
  EXPECT_EQ(of.find("speedup")->find("count")->as_int(), 1);
  EXPECT_EQ(of.find("speedup")->find("buckets")->find("1.5")->as_int(), 0);
  EXPECT_EQ(of.find("speedup")->find("buckets")->find("2")->as_int(), 1);
}

TEST(TaskCounters, SumOfLogarithms_GivesTheGeometricMean) {
  TaskCounters counters;
  const double none = std::numeric_limits<double>::quiet_NaN();
  for (const double speedup : {0.5, 8.0, none}) counters.count("t/a", scored(1, speedup));
  const Value value = counters.value();
  const Value& of = *value.find("t/a")->find("speedup");
  ASSERT_EQ(of.find("count")->as_int(), 2);
  EXPECT_DOUBLE_EQ(std::exp(of.find("log_sum")->as_double() / 2), 2);
  EXPECT_EQ(value.find("t/a")->find("reward")->find("log_sum"), nullptr)
      << "rewards may be negative";
}

TEST(TaskCounters, MoreTasksThanListed_RareOnesAreCountedTogether) {
  TaskCounters counters;
  for (std::size_t i = 0; i < TaskCounters::kListed + 30; ++i)
    counters.count("t/" + std::to_string(i), scored(1, 1));
  EXPECT_EQ(counters.value().as_map().size(), TaskCounters::kListed + 1);
  EXPECT_EQ(count_of(counters, "other"), 30);
}

TEST(TaskCounters, BusyTask_TakesAPlaceAndNoCounterDecreases) {
  TaskCounters counters;
  for (std::size_t i = 0; i < TaskCounters::kListed; ++i)
    counters.count("t/" + std::to_string(i), scored(1, 1));
  counters.count("t/late", scored(1, 1));
  EXPECT_EQ(count_of(counters, "t/late"), -1);
  EXPECT_EQ(count_of(counters, "other"), 1);
  counters.count("t/late", scored(1, 1));
  EXPECT_EQ(count_of(counters, "t/late"), 1);
  EXPECT_EQ(count_of(counters, "other"), 1);
  EXPECT_EQ(count_of(counters, "t/0"), -1);  // the first of the rarest
  // The task that left comes back with its own counters.
  for (int n = 0; n < 3; ++n) counters.count("t/0", scored(1, 1));
  EXPECT_EQ(count_of(counters, "t/0"), 4);
  EXPECT_EQ(count_of(counters, "other"), 1);
}

}  // namespace
}  // namespace hone
