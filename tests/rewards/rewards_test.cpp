// The shipped rewards: values computed by hand, returns and parameters.
#include <gtest/gtest.h>

#include <cmath>

#include "model/flags.hpp"
#include "model/verdict.hpp"
#include "plugin/fixtures.hpp"
#include "plugin/reward.hpp"

namespace hone {
namespace {

Value turn(Outcome outcome, double speedup = 0, VerdictStage stage = VerdictStage::kCheck) {
  Verdict v;
  v.outcome = outcome;
  v.stage = outcome == Outcome::kCorrect ? VerdictStage::kDone : stage;
  if (speedup > 0) v.speedup = Speedup{speedup, speedup - 0.1, speedup + 0.1, 1, 1, 10, 10, {}};
  return Value::map({{"turn", 0}, {"scored", true}, {"verdict", verdict_to_value(v)}});
}
Value measured(Speedup speedup) {
  Verdict v;
  v.outcome = Outcome::kCorrect;
  v.stage = VerdictStage::kDone;
  v.speedup = std::move(speedup);
  return Value::map({{"turn", 0}, {"scored", true}, {"verdict", verdict_to_value(v)}});
}
Value correct(double speedup) { return turn(Outcome::kCorrect, speedup); }
Value unscored() { return Value::map({{"turn", 0}, {"scored", false}, {"verdict", nullptr}}); }

RewardReport score(const std::string& name, Value::Array turns,
                   const Value& config = Value::map()) {
  const auto reward =
      Reward::create(test::load(test::shipped_reward(name)), config, test::services());
  if (!reward) {
    ADD_FAILURE() << reward.error().message;
    return {};
  }
  const auto report = (*reward)->score(Value::map({{"task", Value::map()},
                                                   {"ended", false},
                                                   {"max_turns", 8},
                                                   {"turns", Value(std::move(turns))}}));
  if (!report) {
    ADD_FAILURE() << report.error().message;
    return {};
  }
  return *report;
}

double reward_of(const std::string& name, const Value& one, const Value& config = Value::map()) {
  const RewardReport report = score(name, {one}, config);
  return report.turns.size() == 1 && report.turns[0] ? report.turns[0]->reward : NAN;
}

double component(const RewardReport& report, std::string_view name) {
  for (const auto& [key, value] : report.turns.at(0)->components) {
    if (key == name) return value;
  }
  return NAN;
}

TEST(TritonForge, Reward_RisesFromBuiltToFast) {
  for (const OutcomeRow& row : kOutcomes) {
    if (row.outcome == Outcome::kCorrect) continue;
    const double built = row.built == OutcomeRow::kByStage ? 0.1 : 0;
    EXPECT_DOUBLE_EQ(reward_of("tritonforge", turn(row.outcome)), built) << row.name;
    for (const VerdictStage early : {VerdictStage::kResponse, VerdictStage::kBuild})
      EXPECT_DOUBLE_EQ(reward_of("tritonforge", turn(row.outcome, 0, early)), 0) << row.name;
  }
  EXPECT_DOUBLE_EQ(reward_of("tritonforge", correct(0.5)), 0.3);
  EXPECT_DOUBLE_EQ(reward_of("tritonforge", correct(2)), 1.3);
  EXPECT_DOUBLE_EQ(reward_of("tritonforge", correct(50)), 2.3);
}

/// A verdict of a newer host, with an outcome that the reward does not know.
Value later_turn(VerdictStage stage) {
  Value later = turn(Outcome::kWrong, 0, stage);
  Value verdict = *later.find("verdict");
  return later.set("verdict", verdict.set("outcome", "later_outcome"));
}

/// Rationale: the outcome may be a new class of cheating.
TEST(Rewards, UnknownOutcome_HasNoReward) {
  for (const VerdictStage stage :
       {VerdictStage::kNone, VerdictStage::kBuild, VerdictStage::kCheck}) {
    for (const std::string& name : test::shipped_rewards())
      EXPECT_DOUBLE_EQ(reward_of(name, later_turn(stage)), 0) << name;
  }
}

TEST(TritonForge, CrashInTheCompiler_CountsAsNotBuilt) {
  EXPECT_DOUBLE_EQ(reward_of("tritonforge", turn(Outcome::kTimedOut, 0, VerdictStage::kBuild)), 0);
}

TEST(TritonForge, EachTurn_ReturnsTheDiscountedSumOfTheEpisode) {
  const RewardReport report =
      score("tritonforge", {turn(Outcome::kWrong), correct(1.5), correct(2)});
  const double expected = 0.1 + 0.4 * 0.8 + 0.16 * 1.3;
  EXPECT_DOUBLE_EQ(report.return_to_date, expected);
  for (const auto& one : report.returns) EXPECT_DOUBLE_EQ(one.value_or(NAN), expected);
}

TEST(Kevin, Correct_EarnsSpeedupAndBonus) {
  EXPECT_DOUBLE_EQ(reward_of("kevin", turn(Outcome::kWrong)), 0);
  EXPECT_DOUBLE_EQ(reward_of("kevin", turn(Outcome::kCheated)), 0);
  EXPECT_DOUBLE_EQ(reward_of("kevin", correct(0.5)), 0.8);
  EXPECT_DOUBLE_EQ(reward_of("kevin", correct(20)), 20.3);
  EXPECT_DOUBLE_EQ(reward_of("kevin", correct(20), Value::map({{"speedup_cap", 5}})), 5.3);
}

TEST(Kevin, NoBonus_RewardIsTheSpeedup) {
  const Value config = Value::map({{"correct", 0}});
  EXPECT_DOUBLE_EQ(reward_of("kevin", turn(Outcome::kWrong), config), 0);
  EXPECT_DOUBLE_EQ(reward_of("kevin", correct(0.5), config), 0.5);
}

TEST(Kevin, LaterTurns_AreDiscounted) {
  const RewardReport report = score("kevin", {turn(Outcome::kWrong), correct(1), correct(2)});
  EXPECT_DOUBLE_EQ(report.returns[2].value_or(NAN), 2.3);
  EXPECT_DOUBLE_EQ(report.returns[1].value_or(NAN), 1.3 + 0.4 * 2.3);
  EXPECT_DOUBLE_EQ(report.returns[0].value_or(NAN), 0.4 * (1.3 + 0.4 * 2.3));
  EXPECT_DOUBLE_EQ(report.return_to_date, 0.4 * (1.3 + 0.4 * 2.3));
}

TEST(DrKernel, Reward_IsHalfCorrectnessHalfSpeed) {
  EXPECT_DOUBLE_EQ(reward_of("dr_kernel", turn(Outcome::kCrashed)), 0);
  EXPECT_DOUBLE_EQ(reward_of("dr_kernel", turn(Outcome::kCheated)), 0);
  EXPECT_DOUBLE_EQ(reward_of("dr_kernel", correct(1)), 1);
  EXPECT_DOUBLE_EQ(reward_of("dr_kernel", correct(9)), 2);
  const RewardReport report = score("dr_kernel", {correct(1), correct(2)});
  EXPECT_EQ(component(report, "coverage_known"), 0);
  EXPECT_TRUE(std::isnan(component(report, "coverage")));
  EXPECT_DOUBLE_EQ(report.returns[0].value_or(NAN), 1 + 1.5);
  EXPECT_DOUBLE_EQ(report.returns[1].value_or(NAN), 1.5);
}

TEST(DrKernel, ReportedCoverage_IsUsedOnlyIfConfigured) {
  Verdict v;
  v.outcome = Outcome::kCorrect;
  v.stage = VerdictStage::kDone;
  v.speedup = Speedup{1, 0.9, 1.1, 1, 1, 10, 10, {}};
  v.work = Work{{{{"leaky", 1}}, {{"aten.mm", 1}}}, 30, 10};
  const auto turn_of = [](const Verdict& verdict) {
    return Value::map({{"turn", 0}, {"scored", true}, {"verdict", verdict_to_value(verdict)}});
  };
  const Value asked = Value::map({{"coverage", "evidence"}});
  EXPECT_DOUBLE_EQ(reward_of("dr_kernel", turn_of(v)), 1);
  EXPECT_DOUBLE_EQ(reward_of("dr_kernel", turn_of(v), asked), 1 + 0.5 * 0.75);
  const RewardReport report = score("dr_kernel", {turn_of(v)}, asked);
  EXPECT_EQ(component(report, "coverage_known"), 1);
  EXPECT_DOUBLE_EQ(component(report, "coverage"), 0.5 * 0.75);
  const Value witnessed = Value::map({{"coverage", "witnessed"}});
  EXPECT_DOUBLE_EQ(reward_of("dr_kernel", turn_of(v), witnessed), 1);
  v.work->dry_run = Witnessed{{{"leaky", 3}}, {{"aten.mm", 2}}};
  EXPECT_DOUBLE_EQ(reward_of("dr_kernel", turn_of(v), asked), 1 + 0.5 * 0.75);
  EXPECT_DOUBLE_EQ(reward_of("dr_kernel", turn_of(v), witnessed), 1 + 0.5 * 0.75);
  v.work->dry_run = Witnessed{{}, {{"aten.mm", 2}}};
  EXPECT_DOUBLE_EQ(reward_of("dr_kernel", turn_of(v), asked), 1);
  EXPECT_EQ(component(score("dr_kernel", {turn_of(v)}, asked), "coverage_known"), 0);
  v.work->dry_run.reset();
  v.work->kernels_us = 0;
  EXPECT_DOUBLE_EQ(reward_of("dr_kernel", turn_of(v), asked), 1);
  v.work->operators_us = 0;
  EXPECT_EQ(component(score("dr_kernel", {turn_of(v)}, asked), "coverage_known"), 0);
  v.work->operators_us.reset();
  EXPECT_EQ(component(score("dr_kernel", {turn_of(v)}, asked), "coverage_known"), 0);
  v.work = Work{{{{"leaky", 1}}, {}}, 30, 0};
  v.outcome = Outcome::kWrong;
  EXPECT_DOUBLE_EQ(reward_of("dr_kernel", turn_of(v), asked), 0);
}

TEST(FastP, SpeedupEqualToP_DoesNotCount) {
  EXPECT_DOUBLE_EQ(reward_of("fast_p", correct(1)), 0);
  EXPECT_DOUBLE_EQ(reward_of("fast_p", correct(1.01)), 1);
  EXPECT_DOUBLE_EQ(reward_of("fast_p", correct(1.9), Value::map({{"p", 2}})), 0);
  EXPECT_DOUBLE_EQ(reward_of("fast_p", correct(0.2), Value::map({{"p", 0}})), 1);
  EXPECT_DOUBLE_EQ(reward_of("fast_p", turn(Outcome::kWrong), Value::map({{"p", 0}})), 0);
}

TEST(FastP, NoisyCopyOfTheBaseline_GetsNoCredit) {
  const Value noisy = measured({1.2, 0.9, 1.5, 1, 1, 10, 10, {"noisy"}});
  EXPECT_DOUBLE_EQ(reward_of("fast_p", noisy), 0);
  EXPECT_DOUBLE_EQ(reward_of("fast_p", noisy, Value::map({{"estimate", "point"}})), 1);
  EXPECT_DOUBLE_EQ(reward_of("fast_p", noisy, Value::map({{"p", 0}})), 1) << "it is correct";
}

class EveryReward : public testing::TestWithParam<std::string> {};

TEST_P(EveryReward, UnscoredTurns_AreIgnored) {
  for (const char* kind : {"sum", "forward"}) {
    const Value config = Value::map({{"return", kind}, {"gamma", 0.5}});
    const RewardReport plain = score(GetParam(), {correct(1.5), correct(3)}, config);
    const RewardReport gaps =
        score(GetParam(), {unscored(), correct(1.5), unscored(), correct(3), unscored()}, config);
    EXPECT_DOUBLE_EQ(gaps.return_to_date, plain.return_to_date);
    EXPECT_EQ(gaps.returns[1], plain.returns[0]);
    EXPECT_EQ(gaps.returns[3], plain.returns[1]);
    for (const std::size_t i : {0u, 2u, 4u}) {
      EXPECT_FALSE(gaps.turns[i].has_value());
      EXPECT_FALSE(gaps.returns[i].has_value());
    }
  }
}

TEST_P(EveryReward, TurnsBeyondTheHorizon_AreIgnored) {
  const Value::Array turns{correct(1.5), correct(2.5), correct(1.25)};
  const Value config = Value::map({{"return", "forward"}, {"gamma", 0.5}, {"horizon", 2}});
  const RewardReport report = score(GetParam(), turns, config);
  const auto r = [&](std::size_t i) { return report.turns[i]->reward; };
  EXPECT_DOUBLE_EQ(report.returns[0].value_or(NAN), r(0) + 0.5 * r(1));
  EXPECT_DOUBLE_EQ(report.returns[1].value_or(NAN), r(1) + 0.5 * r(2));
  EXPECT_DOUBLE_EQ(report.returns[2].value_or(NAN), r(2));
}

TEST_P(EveryReward, Estimate_SelectsTheFigure) {
  std::vector<std::string> every_flag(std::begin(flags::kAll), std::end(flags::kAll));
  every_flag.emplace_back("a_flag_of_a_newer_host");
  constexpr double kValue = 1.05, kLow = 0.95;  // fast_p pays for the first and not for the second
  const std::string name = GetParam();
  const auto paid = [&](std::vector<std::string> flags, const Value& config) {
    return reward_of(name, measured({kValue, kLow, 1.15, 1, 1, 10, 10, std::move(flags)}), config);
  };
  const auto estimate = [](const char* choice) { return Value::map({{"estimate", choice}}); };
  const double point = reward_of(name, correct(kValue)), lower = reward_of(name, correct(kLow));
  ASSERT_LT(lower, point);
  std::vector<std::vector<std::string>> flagged = {every_flag};
  for (const std::string& flag : every_flag) flagged.push_back({flag});
  EXPECT_DOUBLE_EQ(paid({}, Value::map()), point);
  EXPECT_DOUBLE_EQ(paid({}, estimate("auto")), point);
  EXPECT_DOUBLE_EQ(paid({}, estimate("point")), point);
  EXPECT_DOUBLE_EQ(paid({}, estimate("lower")), lower);
  // The parameter of the last release.
  EXPECT_DOUBLE_EQ(paid(every_flag, Value::map({{"speedup", "value"}})), point);
  EXPECT_DOUBLE_EQ(paid({}, Value::map({{"speedup", "low"}})), lower);
  for (const auto& flags : flagged) {
    EXPECT_DOUBLE_EQ(paid(flags, Value::map()), lower) << flags[0];
    EXPECT_DOUBLE_EQ(paid(flags, estimate("auto")), lower) << flags[0];
    EXPECT_DOUBLE_EQ(paid(flags, estimate("point")), point) << flags[0];
    EXPECT_DOUBLE_EQ(paid(flags, estimate("lower")), lower) << flags[0];
  }
}

TEST_P(EveryReward, NoisyCopyOfTheBaseline_IsNotPaidForItsLuckiestMeasurement) {
  double least = 1e9, most = 0;
  for (const double value : {0.9, 1.0, 1.1, 1.25}) {  // the same kernel, sent four times
    const double reward =
        reward_of(GetParam(), measured({value, 0.85, 1.4, 1, 1, 10, 10, {"noisy"}}));
    least = std::min(least, reward);
    most = std::max(most, reward);
  }
  EXPECT_DOUBLE_EQ(least, most);
  EXPECT_LT(most, reward_of(GetParam(), correct(1.01)));
}

TEST_P(EveryReward, Components_AreFinite) {
  const RewardReport report = score(GetParam(), {correct(2)});
  for (const auto& [name, value] : report.turns.at(0)->components) {
    EXPECT_TRUE(std::isfinite(value)) << name;
  }
}

TEST_P(EveryReward, ConfigurationMistake_IsNamed) {
  const auto message = [](const Value& config) {
    const auto reward =
        Reward::create(test::load(test::shipped_reward(GetParam())), config, test::services());
    return reward ? "" : reward.error().message;
  };
  const std::string who = GetParam() + ": create: config: ";
  EXPECT_EQ(message(Value::map({{"gama", 0.4}})),
            who + "unknown key 'gama'; did you mean 'gamma'?");
  EXPECT_EQ(message(Value::map({{"gamma", 1.5}})), who + "gamma: expected 0 to 1, found 1.5");
  EXPECT_EQ(message(Value::map({{"return", "some"}})),
            who + "return: unknown value 'some'; did you mean 'sum'?");
  EXPECT_EQ(message(Value::map({{"horizon", 2.5}})),
            who + "horizon: expected an integer, found float");
}

INSTANTIATE_TEST_SUITE_P(Shipped, EveryReward, testing::ValuesIn(test::shipped_rewards()));

}  // namespace
}  // namespace hone
