// Modules with host code on a device: when the baseline is timed, and when its time is accepted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "judge/layout.hpp"
#include "judge/timing/fakes.hpp"
#include "judge/timing/processes/kept_rounds.hpp"
#include "judge/timing/processes/process_protocol.hpp"

namespace hone {
namespace {

using testing::Contains;

struct Modules : test::FakeSession {
  Modules() : FakeSession(Placement::kDevice) {
    settings.single_call_pairs = 0;
    submission.is_module = baseline.is_module = reference.is_module = true;
    submission.can_freeze = true;
  }
};

class ModulesBesideADevice : public testing::Test {
 protected:
  std::size_t at(const std::string& event) const {
    const auto& events = s.world.events;
    return static_cast<std::size_t>(std::find(events.begin(), events.end(), event) -
                                    events.begin());
  }

  Modules s;
};

TEST_F(ModulesBesideADevice, NothingElseOnTheDevice_SubmissionIsNotEnded) {
  s.judge();
  ASSERT_TRUE(s.judgement.verdict.speedup);
  EXPECT_NEAR(s.speedup().value, 1, 1e-9);
  EXPECT_GT(s.workbench.checks, 0);
  EXPECT_EQ(s.world.count("submission ends"), 0);
}

TEST_F(ModulesBesideADevice, Rounds_AreTimedOnceNoContextIsBeingMade) {
  for (const bool can_freeze : {true, false}) {
    s.submission.can_freeze = can_freeze;
    s.world.events.clear();
    s.judge();
    EXPECT_LT(at("device is exclusive"), at("baseline runs 4"));
    s.world.events.erase(
        s.world.events.begin(),
        std::find(s.world.events.begin(), s.world.events.end(), "submission ends"));
    if (!can_freeze) {
      EXPECT_LT(at("device is exclusive"), at("baseline runs 4"));
    }
  }
}

TEST_F(ModulesBesideADevice, Submission_IsFrozenInTheBaselinesRounds) {
  s.judge();
  bool frozen = false;
  for (const std::string& event : s.world.events) {
    if (event == "submission freezes") frozen = true;
    if (event == "submission thaws") frozen = false;
    if (event == "baseline runs 4") {
      EXPECT_TRUE(frozen);
    } else if (event == "submission runs 4") {
      EXPECT_FALSE(frozen);
    }
  }
}

TEST_F(ModulesBesideADevice, Contention_EndsTheSubmissionAndTheFasterBaselineCounts) {
  s.workbench.slowdown = [] { return 2.0; };
  s.baseline.change = [this](Order order, int, Round& round) {
    if (order == Order::kRun && s.world.count("submission ends") == 0) round.seconds *= 2;
  };
  s.judge();
  EXPECT_EQ(s.world.count("submission ends"), 1);
  EXPECT_NEAR(s.speedup().value, 1, 1e-9);
}

TEST_F(ModulesBesideADevice, ConfirmationRun_TimesTheBaselineAgain) {
  s.settings.swapped = true;
  s.judge();
  EXPECT_EQ(s.world.count("submission ends"), 1);
  EXPECT_NEAR(s.speedup().value, 1, 1e-9);
}

TEST_F(ModulesBesideADevice, NoControlGroup_BaselineIsTimedBeforeTheSubmissionAndAfterItsEnd) {
  s.submission.can_freeze = false;
  s.judge();
  EXPECT_LT(at("baseline runs 4"), at("submission runs 4"));
  EXPECT_EQ(s.world.count("submission ends"), 1);
  EXPECT_EQ(s.world.events.back(), "baseline runs 4");
  EXPECT_NEAR(s.speedup().value, 1, 1e-9);
}

TEST_F(ModulesBesideADevice, BaselineDrifts_TheFasterOneCountsWithAFlag) {
  s.submission.can_freeze = false;
  s.baseline.change = [this](Order order, int, Round& round) {
    if (order == Order::kRun && s.world.count("submission ends") == 0) round.seconds *= 1.5;
  };
  s.judge();
  EXPECT_NEAR(s.speedup().value, 1, 1e-9);
  EXPECT_THAT(s.speedup().flags, Contains("baseline_drifted"));
}

/// Makes timed rounds alternately longer and shorter.
void vary(test::FakeRunner& runner, double change) {
  runner.change = [change](Order order, int number, Round& round) {
    if (order == Order::kRun) round.seconds *= number % 2 == 0 ? 1 + change : 1 - change;
  };
}

/// Rounds of the submission that count.
int rounds_of(test::FakeSession& session) {
  return session.world.count("submission runs 4") - 1;  // one warm-up round
}

TEST(ModulesOnADevice, SpeedupWithASmallError_NeedsFourPairs) {
  struct Case {
    double change;
    int pairs;
  };
  // If ratios alternate by `change`, their standard error is 1.25 * change / sqrt(pairs - 1).
  for (const Case& row : {Case{0, 4}, Case{0.0205, 4}, Case{0.0215, 6}, Case{0.0275, 8}}) {
    Modules other;
    other.settings.pairs_min = other.settings.pairs_max = 40;
    vary(other.submission, row.change);
    other.judge();
    EXPECT_EQ(rounds_of(other), row.pairs) << row.change;
  }
}

TEST(ModulesOnADevice, SteadySubmission_NeedsNoMoreThanTheLeastPairs) {
  for (const bool is_steady : {true, false}) {
    Modules other;
    other.settings.pairs_min = 8;
    other.settings.pairs_max = 40;
    vary(other.baseline, 0.05);
    // The doubled distance of the quartiles is four times the change: 1.8 % or 2.2 % of the median.
    vary(other.submission, is_steady ? 0.0045 : 0.0055);
    other.judge();
    if (is_steady) {
      EXPECT_EQ(rounds_of(other), 8);
    } else {
      EXPECT_GT(rounds_of(other), 8);
    }
  }
}

/// Two rounds of the baseline are foreseen to take 11 ms, with the work before them.
TEST(ModulesOnADevice, BaselineLongerThanTheCheckBeforeIt_IsTimedAgain) {
  for (const bool in_time : {true, false}) {
    Modules other;
    other.settings.pairs_max = 2;
    const double took_s = (in_time ? 1.29 : 1.31) * 11e-3;
    other.baseline.call_s = (took_s / 2 - 2 * other.baseline.empty_s) / 4;
    other.judge();
    EXPECT_EQ(other.world.count("submission ends"), in_time ? 0 : 1);
  }
}

/// Both baselines take longer than the check before them covers, so contention cannot be excluded.
TEST(ModulesOnADevice, BaselineSlowedTwice_AllPairsAreTimedOnceMore) {
  for (const bool is_held_up : {true, false}) {
    Modules other;
    other.baseline.call_s = (is_held_up ? 2.01 : 1.98) * 1e-3;
    other.judge();
    EXPECT_EQ(rounds_of(other), is_held_up ? 8 : 4);
  }
}

TEST(ModulesOnADevice, PauseOfTheDevice_IsFollowedByWorkBeforeTheRound) {
  struct Case {
    double pause_s, busy_s;
  };
  for (const Case& row :
       {Case{0.2e-3, 0}, Case{1e-3, 1e-3}, Case{1.9e-3, 1e-3}, Case{2.1e-3, 3e-3}}) {
    Modules other;
    other.workbench.copy_s = row.pause_s / 2;  // the outputs of a baseline's round are copied twice
    other.judge();
    for (const double busy_s : {1e-3, 3e-3}) {
      const auto& all = other.workbench.busy_s;
      EXPECT_EQ(std::find(all.begin(), all.end(), busy_s) != all.end(), busy_s == row.busy_s)
          << row.pause_s << " " << busy_s;
    }
  }
}

TEST(ModulesOnADevice, SingleCallRoundsThatAreAllLate_GoOnToTen) {
  for (const bool late : {false, true}) {
    Modules other;
    other.settings.single_call_pairs = 5;
    other.submission.can_freeze = false;
    // A round of one call takes 1.14 or 1.16 times a fourth of a round of four.
    const double times = late ? 1.16 : 1.14;
    other.submission.first_call_s = 1e-3 * (times - 1) / (1 - times / 4);
    other.judge();
    EXPECT_EQ(other.world.count("submission runs 1"), late ? 10 : 3);
  }
}

/// Five rounds of the submission have outputs. They may take 1/64 of the device's memory.
TEST(ModulesOnADevice, OutputsOverTheirShareOfMemory_AreComparedBeforeTheNextRound) {
  for (const bool is_stored : {true, false}) {
    Modules other;
    const auto layout = lay_out(other.task, other.task.timed, 4, Placement::kDevice, false);
    ASSERT_TRUE(layout);
    other.workbench.memory = 64 * (is_stored ? 5 * layout->total : 4 * layout->total - 1);
    other.judge();
    const auto& events = other.world.events;
    const auto last = std::find(events.rbegin(), events.rend(), "submission runs 4").base();
    const auto first = std::find(events.begin(), events.end(), "submission runs 4");
    EXPECT_EQ(std::count(first, last, "outputs are compared") == 0, is_stored);
    EXPECT_GT(other.world.count("outputs are compared"), 0);
  }
}

TEST(ModulesOnADevice, DeviceThatCannotHoldBothSides_IsFlagged) {
  // 4 GiB, of which 1/64 stays free, for four contexts of 512 MiB and twice what the reference took for its error.
  const double left = (4.0 - 4.0 / 64 - 2) * (1u << 30);
  for (const double share : {0.99, 1.01}) {
    Modules other;
    other.workbench.memory = std::uint64_t{4} << 30;
    other.reference_error.emplace();
    other.reference_error->memory_bytes = static_cast<std::uint64_t>(share * left / 2);
    other.judge();
    const auto& flags = other.speedup().flags;
    EXPECT_EQ(std::count(flags.begin(), flags.end(), "memory_short"), share > 1 ? 1 : 0);
  }
}

TEST(KeptRounds, BytesOfARound_GetRoomForThirteenWithinAShareOfTheDevice) {
  constexpr std::uint64_t kMiB = 1 << 20, kGiB = 1 << 30;
  EXPECT_EQ(with_kept_rounds(kMiB, 64 * kGiB), 13 * kMiB);
  EXPECT_EQ(with_kept_rounds(100 * kMiB, 64 * kGiB), kGiB) << "at most 1 GiB";
  EXPECT_EQ(with_kept_rounds(100 * kMiB, 16 * kGiB), kGiB / 4) << "at most 1/64";
  EXPECT_EQ(with_kept_rounds(2 * kGiB, 64 * kGiB), 2 * kGiB) << "always one round";
  EXPECT_FALSE(has_one_copy(256 * kMiB, 64 * kGiB));
  EXPECT_TRUE(has_one_copy(256 * kMiB + 1, 64 * kGiB));
  EXPECT_FALSE(has_one_copy(128 * kMiB, kGiB));
  EXPECT_TRUE(has_one_copy(128 * kMiB + 1, kGiB)) << "over 1/8";
}

}  // namespace
}  // namespace hone
