// Shares and counts of tasks: what is an attempt, what counts as faster, and how many tasks are kept.
#include "web/task_figures.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace hone {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

TurnLine turn(const std::string& task, const std::string& outcome, double speedup = kNone,
              double reward = kNone) {
  return {task, outcome, true, speedup, reward};
}

const Value& at(const Value& value, std::initializer_list<const char*> path) {
  const Value* found = &value;
  for (const char* key : path) found = found->find(key);
  return *found;
}

TEST(TaskFigures, Shares_CountAttemptsAndNotUnscoredTurns) {
  TaskFigures figures;
  figures.add(turn("a", "correct", 1.6, 1));
  figures.add(turn("a", "correct", 1.0, 0.5));
  figures.add(turn("a", "correct", kNone));  // correct, but not timed
  figures.add(turn("a", "wrong", 9, 0));     // a wrong one is never fast
  figures.add({"a", "", false, kNone, kNone});
  const Value value = figures.value({{"a", 2}});
  const Value& row = value.find("tasks")->as_array().at(0);
  EXPECT_EQ(at(row, {"attempts"}).as_int(), 4);
  EXPECT_EQ(at(row, {"unscored"}).as_int(), 1);
  EXPECT_EQ(at(row, {"episodes"}).as_int(), 2);
  EXPECT_EQ(at(row, {"success"}).as_double(), 0.75);
  EXPECT_EQ(at(row, {"fast_p", "1"}).as_double(), 0.25) << "equal is not faster";
  EXPECT_EQ(at(row, {"fast_p", "1.5"}).as_double(), 0.25);
  EXPECT_EQ(at(row, {"fast_p", "2"}).as_double(), 0);
  EXPECT_EQ(at(row, {"best_speedup"}).as_double(), 1.6);
  EXPECT_DOUBLE_EQ(at(row, {"speedup_mean"}).as_double(), std::sqrt(1.6))
      << "the geometric mean of correct, timed attempts";
  EXPECT_EQ(at(row, {"reward_mean"}).as_double(), 0.5);
  EXPECT_EQ(at(row, {"outcomes", "correct"}).as_int(), 3);
}

TEST(TaskFigures, MeanReturn_IsThatOfEpisodesWithAReturn) {
  TaskFigures figures;
  figures.add(turn("a", "wrong", kNone, 0));
  figures.add(turn("a", "correct", 2, 1), 0.5);
  figures.add(turn("a", "correct", 2, 1), 1.5);
  const Value value = figures.value({});
  const Value& row = value.find("tasks")->as_array().at(0);
  EXPECT_EQ(at(row, {"return_mean"}).as_double(), 1);
  EXPECT_EQ(at(row, {"returns"}).as_int(), 2);
  EXPECT_EQ(at(value, {"all", "return_mean"}).as_double(), 1);
}

TEST(TaskFigures, Return_IsTheFirstOfTheLastReply) {
  EXPECT_EQ(episode_return(Value::map({{"returns", Value::array({0.25, 1.0})}})), 0.25);
  for (const Value& none :
       {Value(), Value::map({{"returns", Value()}}), Value::map({{"returns", Value::array()}}),
        Value::map({{"returns", Value::array({Value(), 1.0})}})}) {
    EXPECT_TRUE(std::isnan(episode_return(none))) << to_json(none);
  }
}

TEST(TaskFigures, BestSpeedup_HasItsOwnInterval) {
  TaskFigures::Counts counts;
  counts.add({"a", "correct", true, 2, 1, 1.9, 2.1, {}});
  counts.add({"a", "correct", true, 1.5, 1, 0.1, 9, {}});
  EXPECT_EQ(at(counts.value(), {"best_low"}).as_double(), 1.9);
  EXPECT_EQ(at(counts.value(), {"best_high"}).as_double(), 2.1);
  counts.add({"a", "correct", true, 3, 1, kNone, kNone, {}});
  EXPECT_TRUE(at(counts.value(), {"best_low"}).is_nil()) << "the interval of another attempt";
}

TEST(TaskFigures, Intervals_AreReadForTheBestAttemptOfEachTaskOnly) {
  TaskFigures figures;
  const auto add = [&figures](const char* task, double speedup, std::int64_t number) {
    TurnLine line = turn(task, "correct", speedup);
    line.episode = 7;
    line.turn = number;
    figures.add(line);
  };
  add("a", 2, 1);
  add("a", 3, 2);
  add("b", 1.5, 3);
  figures.add(turn("c", "wrong"));
  std::vector<std::int64_t> read;
  ASSERT_TRUE(figures.read_intervals([&read](std::uint64_t episode, std::int64_t number) {
    EXPECT_EQ(episode, 7u);
    read.push_back(number);
    return Result<std::pair<double, double>>(number == 3 ? std::pair(kNone, kNone)
                                                         : std::pair(2.5, 3.5));
  }));
  EXPECT_EQ(read, (std::vector<std::int64_t>{2, 2, 3})) << "of all, a and b";
  const Value value = figures.value({});
  EXPECT_EQ(at(value, {"all", "best_high"}).as_double(), 3.5);
  const Value::Array& rows = value.find("tasks")->as_array();
  EXPECT_EQ(at(rows[0], {"best_low"}).as_double(), 2.5);
  EXPECT_TRUE(at(rows[1], {"best_low"}).is_nil()) << "its reply has none";
  const Status failed =
      figures.read_intervals([](std::uint64_t, std::int64_t) -> Result<std::pair<double, double>> {
        return Error{Code::kCancelled, "gone"};
      });
  EXPECT_EQ(failed.error().code, Code::kCancelled);
}

TEST(TaskFigures, TaskWithoutAttempts_HasNoShares) {
  const Value value = TaskFigures().value({{"new", 1}});
  const Value& row = value.find("tasks")->as_array().at(0);
  EXPECT_TRUE(at(row, {"success"}).is_nil());
  EXPECT_TRUE(at(row, {"best_speedup"}).is_nil());
  EXPECT_TRUE(at(row, {"speedup_mean"}).is_nil());
  EXPECT_TRUE(at(value, {"all", "fast_p", "1"}).is_nil());
  EXPECT_EQ(at(value, {"all", "best_fast_p", "1"}).as_double(), 0);
}

TEST(TaskFigures, BestShare_CountsEachTaskOnce) {
  TaskFigures figures;
  for (int i = 0; i < 3; ++i) figures.add(turn("a", "correct", 3));
  figures.add(turn("b", "correct", 0.9));
  const Value value = figures.value({});
  EXPECT_EQ(at(value, {"all", "fast_p", "2"}).as_double(), 0.75);
  EXPECT_EQ(at(value, {"all", "best_fast_p", "2"}).as_double(), 0.5);
}

TEST(TaskFigures, ManyTasksAndOutcomes_AreBounded) {
  TaskFigures figures;
  constexpr std::size_t kTasks = TaskFigures::kTasksMax + 500;
  for (std::size_t i = 0; i < kTasks; ++i) figures.add(turn("task " + std::to_string(i), "wrong"));
  for (int i = 0; i < 1000; ++i) figures.add(turn("task 1", "outcome " + std::to_string(i)));
  const Value value = figures.value({});
  const Value::Array& rows = value.find("tasks")->as_array();
  ASSERT_EQ(rows.size(), 1000u);
  EXPECT_EQ(at(rows[0], {"task"}).as_string(), "task 1");
  EXPECT_EQ(at(rows[0], {"attempts"}).as_int(), 1001);
  EXPECT_LE(at(rows[0], {"outcomes"}).as_map().size(), 32u);
  EXPECT_EQ(at(rows[1], {"task"}).as_string(), "other");
  EXPECT_EQ(at(rows[1], {"attempts"}).as_int(), 500);
  EXPECT_EQ(at(value, {"left_out"}).as_int(),
            static_cast<std::int64_t>(TaskFigures::kTasksMax + 1 - 1000));
  EXPECT_EQ(at(value, {"all", "attempts"}).as_int(), static_cast<std::int64_t>(kTasks + 1000));
}

}  // namespace
}  // namespace hone
