// Rewards through the Reward wrapper: valid reports are accepted, and invalid ones refused.
#include "plugin/reward.hpp"

#include <gtest/gtest.h>

#include "conformance/episode_samples.hpp"
#include "plugin/fixtures.hpp"

namespace hone {
namespace {

using test::fixture;

Value one_correct_turn() {
  const Value verdict = Value::map({{"outcome", "correct"}, {"stage", "done"}});
  const Value turn = Value::map({{"turn", 0}, {"scored", true}, {"verdict", verdict}});
  return Value::map({{"task", Value::map()},
                     {"ended", false},
                     {"max_turns", 4},
                     {"turns", Value::array({turn})}});
}

Result<std::unique_ptr<Reward>> create(const std::string& name,
                                       const Value& config = Value::map()) {
  return Reward::create(test::load(fixture(name)), config, test::services(name));
}

TEST(Reward, CorrectTurn_IsScored) {
  auto reward = create("good", Value::map({{"weight", 2}}));
  ASSERT_TRUE(reward.ok()) << reward.error().message;
  const auto report = (*reward)->score(one_correct_turn());
  ASSERT_TRUE(report.ok()) << report.error().message;
  ASSERT_EQ(report->turns.size(), 1u);
  EXPECT_EQ(report->turns[0]->reward, 2.0);
  EXPECT_EQ(report->turns[0]->components[0].first, "correct");
  EXPECT_EQ(report->return_to_date, 2.0);
  EXPECT_EQ(report->returns[0], 2.0);
}

TEST(Reward, VersionAndConfigHash_AreReported) {
  const auto plain = create("good"), heavy = create("good", Value::map({{"weight", 2}}));
  ASSERT_TRUE(plain.ok() && heavy.ok());
  EXPECT_EQ((*plain)->version(), "1.2.3");
  EXPECT_EQ((*plain)->config_hash().size(), 64u);
  EXPECT_EQ((*heavy)->config_hash(), (*create("good", Value::map({{"weight", 2}})))->config_hash());
  EXPECT_NE((*plain)->config_hash(), (*heavy)->config_hash());
}

TEST(Reward, ConfigHash_IgnoresTheOrderOfKeys) {
  const Value inner = Value::map({{"x", 1}, {"y", Value::array({1, 2})}});
  const Value other = Value::map({{"y", Value::array({1, 2})}, {"x", 1}});
  EXPECT_EQ(config_hash(Value::map({{"a", inner}, {"b", 2}})),
            config_hash(Value::map({{"b", 2}, {"a", other}})));
  EXPECT_NE(config_hash(Value::map({{"y", Value::array({1, 2})}})),
            config_hash(Value::map({{"y", Value::array({2, 1})}})));
}

TEST(Reward, OutcomeOfALaterVersion_IsScored) {
  const auto report = (*create("good"))->score(later_outcome_sample());
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->turns[0]->reward, 1.0);
  EXPECT_EQ(report->turns[1]->reward, 0.0);
}

TEST(Reward, UnscoredTurns_HaveNoReward) {
  auto reward = create("good");
  ASSERT_TRUE(reward.ok());
  Value episode = one_correct_turn();
  episode.set("turns", Value::array({Value::map({{"turn", 0}, {"scored", false}}),
                                     episode.find("turns")->as_array()[0]}));
  const auto report = (*reward)->score(episode);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_FALSE(report->turns[0].has_value());
  EXPECT_FALSE(report->returns[0].has_value());
  EXPECT_EQ(report->turns[1]->reward, 1.0);
}

TEST(Reward, ConfigurationMistake_IsReturned) {
  const auto unknown = create("good", Value::map({{"wieght", 2}}));
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, Code::kInvalidArgument);
  EXPECT_EQ(unknown.error().message,
            "good: create: config: unknown key 'wieght'; did you mean 'weight'?");
  EXPECT_EQ(create("good", Value::map({{"weight", "two"}})).error().message,
            "good: create: config: weight: expected a number, found string");
  EXPECT_EQ(create("good", Value::map({{"weight", 11}})).error().message,
            "good: create: config: weight: expected 0 to 10, found 11");
}

TEST(Reward, EpisodeMistake_IsReturned) {
  auto reward = create("good");
  Value episode = one_correct_turn();
  episode.set("turns", Value::array());
  const auto report = (*reward)->score(episode);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().message, "good: score: episode: turns: expected at least one");
}

TEST(Reward, PluginThatThrows_GivesAnInternalError) {
  auto reward = create("throws");
  ASSERT_TRUE(reward.ok());
  const auto report = (*reward)->score(one_correct_turn());
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code, Code::kInternal);
  EXPECT_EQ(report.error().message, "throws: score: threw across the ABI: thrown on purpose");
}

TEST(Reward, TableWithMissingFunctions_IsRefused) {
  EXPECT_EQ(create("missing_describe").error().message,
            "missing_describe.so: function describe is null");
  EXPECT_EQ(create("small_table").error().message,
            "small_table.so: hone.reward/1 of 16 bytes, expected at least 40");
  EXPECT_EQ(create("null_factory").error().message, "null_factory.so: offers no hone.reward/1");
}

struct Garbage {
  const char* kind;
  const char* message;
};
class RewardGarbage : public testing::TestWithParam<Garbage> {};

TEST_P(RewardGarbage, InvalidReport_IsAnInternalError) {
  auto reward = create("garbage_output", Value::map({{"kind", GetParam().kind}}));
  ASSERT_TRUE(reward.ok()) << reward.error().message;
  const auto report = (*reward)->score(one_correct_turn());
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code, Code::kInternal);
  EXPECT_EQ(report.error().message, "garbage_output: score: " + std::string(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, RewardGarbage,
    testing::Values(Garbage{"bytes", "wrote messagepack: broken at byte 0"},
                    Garbage{"array", "output: expected a map, found array"},
                    Garbage{"nothing", "wrote messagepack: cut off at byte 0"},
                    Garbage{"nan", "return: expected a finite number, found nan"},
                    Garbage{"text", "return: expected a number, found string"},
                    Garbage{"short", "turns: expected a list of 1, found one of 0"},
                    Garbage{"nil", "returns/0: expected a value for a scored turn, found nil"},
                    Garbage{"flood", "wrote more than 67108864 bytes"},
                    Garbage{"code", "returned code 77, expected 0 to 9"},
                    Garbage{"silent", "failed without a message"}),
    [](const auto& parameter) { return std::string(parameter.param.kind); });

TEST(EpisodeSamples, Samples_AreScoredByTheGoodFixture) {
  auto reward = create("good");
  for (const Value& episode : episode_samples()) {
    const auto report = (*reward)->score(episode);
    ASSERT_TRUE(report.ok()) << report.error().message;
    EXPECT_EQ(report->turns.size(), episode.find("turns")->as_array().size());
  }
}

}  // namespace
}  // namespace hone
