// The verdict fixtures: each is a valid input of a reward, and each kind of verdict is among them.
#include "conformance/verdict_fixtures.hpp"

#include <gtest/gtest.h>

#include <set>

#include "plugin/fixtures.hpp"
#include "plugin/reward.hpp"

namespace hone {
namespace {

TEST(VerdictFixtures, EveryOutcome_HasAFixture) {
  std::set<std::string> names, alone;
  for (const VerdictFixture& fixture : verdict_fixtures()) {
    EXPECT_TRUE(names.insert(fixture.name).second) << fixture.name << " stands twice";
    const Value::Array& turns = fixture.episode.find("turns")->as_array();
    if (turns.size() != 1 || !turns[0].find("scored")->as_bool()) continue;
    const Value& verdict = *turns[0].find("verdict");
    alone.insert(verdict.find("outcome")->as_string());
    EXPECT_TRUE(verdict_from_value(verdict).ok()) << fixture.name;
  }
  std::set<std::string> all;
  for (const OutcomeRow& row : kOutcomes) all.emplace(row.name);
  EXPECT_EQ(alone, all);
  for (const char* name : {"build_failed", "flagged", "unscored", "climb", "fault_between"}) {
    EXPECT_EQ(names.count(name), 1u) << name;
  }
}

TEST(VerdictFixtures, ShippedRewards_ScoreThem) {
  for (const std::string& name : test::shipped_rewards()) {
    const auto reward =
        Reward::create(test::load(test::shipped_reward(name)), Value::map(), test::services(name));
    ASSERT_TRUE(reward.ok()) << reward.error().message;
    double slow = 0, fast = 0;
    for (const VerdictFixture& fixture : verdict_fixtures()) {
      const auto report = (*reward)->score(fixture.episode);
      ASSERT_TRUE(report.ok()) << fixture.name << ": " << report.error().message;
      if (fixture.name == "cheated") {
        EXPECT_EQ(report->return_to_date, 0.0);
      }
      if (fixture.name == "slow") slow = report->return_to_date;
      if (fixture.name == "fast") fast = report->return_to_date;
    }
    EXPECT_LT(slow, fast) << name;
  }
}

}  // namespace
}  // namespace hone
