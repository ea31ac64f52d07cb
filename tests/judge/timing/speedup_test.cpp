// The speedup of timings: single-call rounds, and a table of complete timings.
#include "judge/timing/speedup.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "judge/sample_task.hpp"
#include "model/caught.hpp"
#include "model/flags.hpp"

namespace hone {
namespace {

const std::vector<double> kEmpty{220e-6, 222e-6, 221e-6, 228e-6};

TEST(SingleCallBlocks, TwiceAsFastCall_HasRatioTwo) {
  const SingleCallBlocks singles =
      compare_single_calls({420e-6, 421e-6, 420e-6}, {320e-6, 330e-6, 325e-6}, kEmpty);
  EXPECT_NEAR(singles.ratio, 2, 1e-9);
  EXPECT_TRUE(singles.is_distinguishable);
}

TEST(SingleCallBlocks, LateRounds_DoNotCount) {
  EXPECT_NEAR(
      compare_single_calls({420e-6, 421e-6, 800e-6}, {320e-6, 900e-6, 325e-6}, kEmpty).ratio, 2,
      1e-9);
}

TEST(SingleCallBlocks, CallAsShortAsAnEmptyRound_IsNotToldApart) {
  const SingleCallBlocks singles =
      compare_single_calls({221e-6, 230e-6, 222e-6}, {219e-6, 232e-6, 229e-6}, kEmpty);
  EXPECT_NEAR(singles.ratio, 1, 1e-9);
  EXPECT_FALSE(singles.is_distinguishable);
  EXPECT_NEAR(compare_single_calls({219e-6, 240e-6}, {219e-6}, kEmpty).ratio, 1, 1e-9);
  EXPECT_NEAR(compare_single_calls({219e-6}, {219e-6}, {219e-6}).ratio, 1, 1e-9);
}

TEST(SingleCallBlocks, RoundsWorkInItsFirstCall_IsSlow) {
  const SingleCallBlocks singles =
      compare_single_calls({230e-6, 231e-6, 232e-6}, {500e-6, 520e-6, 510e-6}, kEmpty);
  EXPECT_LT(singles.ratio, 0.1);
  EXPECT_TRUE(singles.is_distinguishable);
}

constexpr Floor kQuiet{50e-6, 50e-6, 1e-6};

TEST(SingleCallPairs, EqualKernels_HaveRatioOne) {
  const SingleCallPairs one =
      single_speedup({1050e-6, 2050e-6}, {1050e-6, 2050e-6}, {0, 1}, kQuiet, kQuiet);
  EXPECT_NEAR(one.ratio, 1, 1e-9);
  EXPECT_GT(one.high, 1);
  EXPECT_LT(one.high, 1.05);
}

TEST(SingleCallPairs, DelayedRoundOfAFamily_DoesNotCount) {
  const SingleCallPairs one = single_speedup({1050e-6, 1050e-6, 2050e-6},
                                             {550e-6, 9050e-6, 1050e-6}, {0, 0, 1}, kQuiet, kQuiet);
  EXPECT_NEAR(one.ratio, 2, 1e-9);
}

TEST(SingleCallPairs, SlowRoundsOfItsOwn_DoNotRaiseIt) {
  // It pays 2 ms in the first call of a round, and makes some rounds slower to widen its interval.
  const SingleCallPairs one =
      single_speedup({1050e-6, 1050e-6, 1050e-6, 1050e-6}, {2550e-6, 8050e-6, 2550e-6, 9050e-6},
                     {0, 0, 1, 1}, kQuiet, kQuiet);
  EXPECT_NEAR(one.ratio, 0.4, 1e-9);
  EXPECT_LT(one.high, 0.42);
}

TEST(SingleCallPairs, SlowFirstCallOfHardware_IsAllowed) {
  // 10 us a call, and 15 us more in the first call of a round.
  const SingleCallPairs one = single_speedup({90e-6}, {75e-6}, {0}, kQuiet, kQuiet);
  EXPECT_LT(one.ratio, 1.7);
  EXPECT_GT(one.high, 4);
}

// Verdicts of whole timings. Rounds have ten calls; empty rounds take 50 us.

constexpr std::uint64_t kSeed = 7;

/// Ten pairs: the baseline's calls take 100 us, the submission's `call_us`.
Timings pairs_of(double call_us) {
  Timings t;
  t.calls = 10;
  t.baseline.assign(10, 50e-6 + 10 * 100e-6);
  t.submission.assign(10, 50e-6 + 10 * call_us * 1e-6);
  t.floors.assign(10, 50e-6);
  t.wall_floors = t.floors;
  t.marked.assign(10, 0);
  t.excuses_submission = true;
  return t;
}

/// Single-call rounds of two families, `baseline_us` and `submission_us` without the floor.
void add_singles(Timings& t, double baseline_us, double submission_us) {
  for (const std::size_t family : {0u, 1u, 0u}) {
    t.single_families.push_back(family);
    t.single_baseline.push_back(50e-6 + baseline_us * 1e-6);
    t.single_submission.push_back(50e-6 + submission_us * 1e-6);
  }
}

struct Case {
  const char* name;
  double call_us;                     ///< of the submission; the baseline's is 100
  std::function<void(Timings&)> set;  ///< what differs from clean pairs
  double value, low;                  ///< expected
  std::vector<std::string> flags;
  std::string caught = {};
  MeasureSettings settings = {};
};

MeasureSettings with_max_interval(double most) {
  MeasureSettings settings;
  settings.max_interval = most;
  return settings;
}

void add_noise(std::vector<double>& rounds) {
  for (std::size_t i = 0; i < rounds.size(); ++i) rounds[i] *= i % 2 == 0 ? 0.6 : 1.6;
}

/// Makes the rounds alternately shorter and longer by this share of their ten calls of 50 us.
void vary(std::vector<double>& rounds, double share) {
  for (std::size_t i = 0; i < rounds.size(); ++i)
    rounds[i] += (i % 2 == 0 ? -share : share) * 500e-6;
}

void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

std::vector<Case> cases() {
  const auto nothing = [](Timings&) {};
  return {
      {"TwiceAsFast", 50, nothing, 2, 2, {}},
      {"AsFast", 100, nothing, 1, 1, {}},
      {"FourTimesSlower", 400, nothing, 0.25, 0.25, {}},
      {"NoEmptyRounds_UseTheInstalledFloor",
       50,
       [](Timings& t) {
         t.floors.clear();
         t.installed_floor = {50e-6, 50e-6, 0};
       },
       2,
       2,
       {}},
      {"OneSlowPair_LowersTheLowEnd",
       50,
       [](Timings& t) { t.submission[3] = 50e-6 + 10 * 1600e-6; },
       2,
       0.9916,
       {"noisy"}},
      {"IntervalOf14Percent_IsNotNoisy",
       50,
       [](Timings& t) { vary(t.submission, 0.06); },
       2.0036,
       1.8626,
       {}},
      {"IntervalOf17Percent_IsNoisy",
       50,
       [](Timings& t) { vary(t.submission, 0.07); },
       2.0049,
       1.8412,
       {"noisy"}},
      {"CutShort_PaysTheRatioOfSums",
       200,
       [](Timings& t) { t.cut_short = true; },
       0.5,
       0.5,
       {"cut_short"}},
      {"EmptyRoundsVary_FloorIsUnsteady",
       50,
       [](Timings& t) {
         for (std::size_t i = 1; i < t.floors.size(); ++i) t.floors[i] = 100e-6;
       },
       2,
       1050.0 / 550,
       {"floor_unsteady"}},
      {"SubmissionAsShortAsAnEmptyRound_CountsForTheTimeOfItsBytes",  // 8 kB at 768 GB/s
       0,
       nothing,
       9600,
       9600,
       {"below_resolution"}},
      {"SinglesAgree", 50, [](Timings& t) { add_singles(t, 100, 50); }, 2, 2, {}},
      {"RoundsWorkInItsFirstCall_IsCaught",
       50,
       [](Timings& t) { add_singles(t, 100, 500); },
       0.2,
       0.2,
       {"single_rounds_disagree", "noisy"},
       caught::kSingleRounds},
      {"RoundsWorkInItsFirstCallWithThreads_IsLowered",
       50,
       [](Timings& t) {
         add_singles(t, 100, 500);
         t.excuses_submission = false;
       },
       0.2,
       0.2,
       {"single_rounds_disagree", "noisy"}},
      {"FirstCallABitSlower_IsNotCaught",
       50,
       [](Timings& t) { add_singles(t, 100, 78); },
       100.0 / 78,
       100.0 / 78,
       {"single_rounds_disagree", "noisy"}},
      {"SingleCallBlocksDisagree",
       50,
       [](Timings& t) {
         t.schedule = Schedule::kBlocks;
         t.single_floors.assign(3, 50e-6);
         add_singles(t, 100, 100);
       },
       1,
       1,
       {"single_rounds_disagree", "noisy"},
       caught::kSingleRounds},
      {"SingleCallBlocksOfEightyPercent_Agree",
       50,
       [](Timings& t) {
         t.schedule = Schedule::kBlocks;
         t.single_floors.assign(3, 50e-6);
         add_singles(t, 100, 62);
       },
       2,
       2,
       {}},
      {"Throttled", 50, [](Timings& t) { t.throttled = true; }, 2, 2, {"throttled"}},
      {"MemoryShort", 50, [](Timings& t) { t.memory_short = true; }, 2, 2, {"memory_short"}},
      {"Drifted", 50, [](Timings& t) { t.drifted = true; }, 2, 2, {"baseline_drifted"}},
  };
}

std::string name_of_case(const testing::TestParamInfo<Case>& info) { return info.param.name; }

class SpeedupOfTimings : public testing::TestWithParam<Case> {};

TEST_P(SpeedupOfTimings, Timings_GiveTheExpectedSpeedup) {
  const Case& expected = GetParam();
  Timings timings = pairs_of(expected.call_us);
  expected.set(timings);
  const SpeedupRules rules(test::sample_task(), expected.settings, 128 * 6e9, kSeed);
  const Judgement judged = rules.judge(timings);
  ASSERT_EQ(judged.verdict.outcome, Outcome::kCorrect);
  const Speedup& speedup = *judged.verdict.speedup;
  EXPECT_NEAR(speedup.value, expected.value, 1e-3 * expected.value);
  EXPECT_NEAR(speedup.low, expected.low, 1e-3 * expected.low);
  EXPECT_EQ(speedup.flags, expected.flags);
  EXPECT_EQ(judged.verdict.caught, expected.caught);
}

INSTANTIATE_TEST_SUITE_P(Table, SpeedupOfTimings, testing::ValuesIn(cases()), name_of_case);

TEST(SpeedupRules, CallFasterThanTheMemory_IsCheated) {
  const Timings timings = pairs_of(100);
  const SpeedupRules rules(test::sample_task(), {}, 1e6, kSeed);  // 8 ms for 8 kB
  const Judgement judged = rules.judge(timings);
  EXPECT_EQ(judged.verdict.outcome, Outcome::kCheated);
  EXPECT_EQ(judged.verdict.caught, caught::kBeyondPhysics);
  EXPECT_FALSE(judged.verdict.speedup);
}

TEST(SpeedupRules, BaselineVaries_MachineIsNoisy) {
  const SpeedupRules rules(test::sample_task(), with_max_interval(0.1), 128 * 6e9, kSeed);
  Timings timings = pairs_of(100);
  EXPECT_FALSE(rules.is_machine_noisy(timings));
  add_noise(timings.baseline);
  EXPECT_TRUE(rules.is_machine_noisy(timings));
  EXPECT_THAT(rules.judge(timings).verdict.speedup->flags, testing::Contains(flags::kMachineNoisy));
  timings.on_device = true;
  EXPECT_FALSE(rules.is_machine_noisy(timings));
  timings.on_device = false;
  timings.cut_short = true;
  EXPECT_FALSE(rules.is_machine_noisy(timings));
}

TEST(SpeedupRules, OnlyTheSubmissionVaries_MachineIsNotNoisy) {
  const SpeedupRules rules(test::sample_task(), with_max_interval(0.1), 128 * 6e9, kSeed);
  Timings timings = pairs_of(100);
  add_noise(timings.submission);
  EXPECT_FALSE(rules.is_machine_noisy(timings));
  EXPECT_THAT(rules.judge(timings).verdict.speedup->flags,
              testing::Not(testing::Contains(flags::kMachineNoisy)));
}

TEST(SpeedupRules, SubtractedFloor_IsTheLeastInPairsAndTheMedianInBlocks) {
  const SpeedupRules rules(test::sample_task(), {}, 128 * 6e9, kSeed);
  Timings timings = pairs_of(100);
  timings.floors = {60e-6, 50e-6, 70e-6};
  timings.wall_floors = {90e-6, 80e-6, 95e-6};
  EXPECT_EQ(rules.subtracted_floor(timings, true).seconds, 50e-6);
  timings.excuses_submission = false;
  EXPECT_EQ(rules.subtracted_floor(timings, false).seconds, 80e-6);
  timings.schedule = Schedule::kBlocks;
  EXPECT_EQ(rules.subtracted_floor(timings, false).seconds, 60e-6);
}

}  // namespace
}  // namespace hone
