// The lines that TrainingData makes from turns.
#include "episode/training.hpp"

#include <gtest/gtest.h>

namespace hone::test {
namespace {

Value message(const std::string& role, const std::string& content) {
  return Value::map({{"role", role}, {"content", content}});
}

struct Turn {
  std::string code;
  std::string outcome;
  Value reward;
};

/// An episode of "add" whose prompt is two messages, and each turn two more.
Value trajectory(const std::string& name, const std::vector<Turn>& turns) {
  Value messages =
      Value::array({message("system", "write kernels"), message("user", "add two vectors")});
  Value list = Value::array(), returns = Value::array();
  for (const Turn& turn : turns) {
    const std::size_t place = messages.as_array().size();
    messages.push(message("assistant", turn.code));
    messages.push(message("user", "feedback on " + turn.code));
    const bool valid = turn.reward.is_number();
    list.push(Value::map({{"turn", list.as_array().size() + 1},
                          {"verdict", Value::map({{"outcome", turn.outcome}})},
                          {"reward", turn.reward},
                          {"reward_valid", valid},
                          {"message", place}}));
    returns.push(turn.reward);
  }
  return Value::map({{"episode", name},
                     {"task", "tasks/add"},
                     {"group", Value()},
                     {"reward", Value::map({{"name", "kevin"}, {"config_hash", "00"}})},
                     {"parent", Value()},
                     {"parent_turn", 0},
                     {"prompt_lost", false},
                     {"messages", messages},
                     {"turns", list},
                     {"returns", returns}});
}

std::vector<Value> lines(TrainingData::Form form, const std::vector<Value>& trajectories) {
  std::vector<Value> found;
  TrainingData data(form, [&](const Value& line) { found.push_back(line); });
  for (const Value& one : trajectories) {
    const Status added = data.add(one);
    EXPECT_TRUE(added) << added.error().message;
  }
  data.finish();
  return found;
}

using Form = TrainingData::Form;

TEST(Training, Trajectories_AreUnchanged) {
  const Value one = trajectory("a", {{"x", "wrong", 0.1}});
  EXPECT_EQ(lines(Form::kTrajectories, {one}), std::vector<Value>{one});
}

TEST(Training, EachTurn_IsALineWithWhatTheModelSaw) {
  const auto found =
      lines(Form::kRl, {trajectory("a", {{"x", "wrong", 0.1}, {"y", "correct", 1.0}})});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].find("messages")->as_array().size(), 2u);
  EXPECT_EQ(*found[0].find("completion"), Value("x"));
  EXPECT_EQ(found[1].find("messages")->as_array().size(), 4u);
  EXPECT_EQ(found[1].find("messages")->as_array()[3], message("user", "feedback on x"));
  EXPECT_EQ(*found[1].find("completion"), Value("y"));
  EXPECT_EQ(*found[1].find("reward"), Value(1.0));
  EXPECT_EQ(*found[1].find("return"), Value(1.0));
}

TEST(Training, TurnWithoutAValidReward_IsOmitted) {
  const auto found =
      lines(Form::kRl, {trajectory("a", {{"x", "wrong", Value()}, {"y", "correct", 1.0}})});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(*found[0].find("turn"), Value(2));
}

TEST(Training, SharedTurnsOfABranch_AreEmittedForTheParentOnly) {
  Value branch = trajectory("b", {{"x", "wrong", 0.1}, {"z", "correct", 2.0}});
  branch.set("parent", "a");
  branch.set("parent_turn", 1);
  const auto found = lines(Form::kRl, {branch});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(*found[0].find("completion"), Value("z"));
}

TEST(Training, ConversationUpToTheBestCorrectTurn_IsAnExample) {
  const auto found =
      lines(Form::kSft,
            {trajectory("a", {{"x", "correct", 0.4}, {"y", "correct", 1.0}, {"z", "wrong", 5.0}}),
             trajectory("b", {{"x", "wrong", 0.1}})});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(*found[0].find("turn"), Value(2));
  EXPECT_EQ(found[0].find("messages")->as_array().back(), message("assistant", "y"));
}

TEST(Training, BestAndWorstFirstTurn_MakeAPair) {
  const auto found =
      lines(Form::kPairs,
            {trajectory("a", {{"x", "wrong", 0.1}}), trajectory("b", {{"y", "correct", 0.9}}),
             trajectory("c", {{"z", "wrong", 0.2}}), trajectory("d", {{"z", "wrong", Value()}})});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(*found[0].find("chosen"), Value::array({message("assistant", "y")}));
  EXPECT_EQ(*found[0].find("rejected"), Value::array({message("assistant", "x")}));
  EXPECT_EQ(found[0].find("prompt")->as_array().size(), 2u);
  EXPECT_EQ(*found[0].find("chosen_reward"), Value(0.9));
  EXPECT_EQ(*found[0].find("rejected_episode"), Value("a"));
}

TEST(Training, RewardsOfDifferentKinds_AreNotCompared) {
  Value other = trajectory("b", {{"y", "correct", 0.9}});
  other.set("reward", Value::map({{"name", "fast_p"}, {"config_hash", "00"}}));
  EXPECT_TRUE(lines(Form::kPairs, {trajectory("a", {{"x", "wrong", 0.1}}), other}).empty());
}

TEST(Training, EqualRewards_MakeNoPair) {
  EXPECT_TRUE(lines(Form::kPairs, {trajectory("a", {{"x", "wrong", 0.1}}),
                                   trajectory("b", {{"y", "wrong", 0.1}})})
                  .empty());
}

TEST(Training, EpisodeWithoutItsPrompt_IsOmitted) {
  Value lost = trajectory("a", {{"x", "correct", 1.0}});
  lost.set("prompt_lost", true);
  EXPECT_TRUE(lines(Form::kSft, {lost}).empty());
  EXPECT_TRUE(lines(Form::kPairs, {lost, trajectory("b", {{"x", "wrong", 0.1}})}).empty());
}

TEST(Training, InvalidTrajectory_IsAnError) {
  TrainingData data(Form::kRl, [](const Value&) {});
  Value one = trajectory("a", {{"x", "correct", 1.0}});
  one.set("messages", Value::array());
  const Status added = data.add(one);
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().message, "episode \"a\": a turn without its messages");
}

}  // namespace
}  // namespace hone::test
