// Replay: recorded turns judged again by a scripted evaluator, and the reported differences.
#include "episode/replay.hpp"

#include <gmock/gmock.h>

#include "episode/episode.hpp"
#include "episode/journalled_fixture.hpp"

namespace hone::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ReplayTest : public JournalledTest {
 protected:
  void SetUp() override {
    JournalledTest::SetUp();
    catalog_ = *Catalog::open({task_list("tasks", {small_task()})}, {});
    environment_ = make_kernel_refine({.templates = templates_folder()}).value();
  }

  /// A recorded episode of these verdicts.
  StoredEpisode recorded(const std::vector<Verdict>& verdicts) {
    script.assign(verdicts.begin(), verdicts.end());
    const Value episode = opened();
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
      static_cast<void>(
          stepped(episode, static_cast<std::int64_t>(i) + 1, "int a" + std::to_string(i) + ";"));
    }
    return JournalledTest::recorded(episode);
  }

  /// The same episode with these verdicts now.
  std::vector<ReplayTurn> replayed(const StoredEpisode& stored, std::vector<Verdict> now,
                                   const std::string& reward = "tritonforge") {
    auto turns = plan_replay(stored, *environment_, *catalog_);
    EXPECT_TRUE(turns) << turns.error().message;
    for (std::size_t i = 0; i < now.size(); ++i) (*turns)[i].now = now[i];
    compare_replay(stored, *environment_, *catalog_, shipped(reward, Value::map()), *turns);
    return std::move(*turns);
  }

  static Verdict measured(double value, double low, double high) {
    Verdict verdict = ScriptedEvaluator::correct(value);
    verdict.speedup->low = low;
    verdict.speedup->high = high;
    return verdict;
  }

  std::shared_ptr<const Catalog> catalog_;
  std::unique_ptr<Environment> environment_;
};

TEST_F(ReplayTest, Submission_HasTheRecordedSourceAndSeed) {
  const StoredEpisode stored = recorded({outcome(Outcome::kWrong), measured(1.5, 1.4, 1.6)});
  const auto turns = plan_replay(stored, *environment_, *catalog_);
  ASSERT_TRUE(turns);
  ASSERT_EQ(turns->size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    const Submission& now = *(*turns)[i].submission;
    EXPECT_EQ(now.source, submissions[i].source);
    EXPECT_EQ(now.seed, submissions[i].seed) << "the same inputs and hidden shapes";
    EXPECT_EQ(now.language, submissions[i].language);
    EXPECT_EQ(now.backend, submissions[i].backend);
  }
}

TEST_F(ReplayTest, OverlappingSpeedups_AreNoDifference) {
  const StoredEpisode stored = recorded({outcome(Outcome::kWrong), measured(1.5, 1.4, 1.6)});
  const auto turns = replayed(stored, {outcome(Outcome::kWrong), measured(1.3, 1.2, 1.41)});
  EXPECT_THAT(turns[0].differences, IsEmpty());
  EXPECT_THAT(turns[1].differences, IsEmpty());
  EXPECT_EQ(turns[0].reward_now, turns[0].reward_then);
  EXPECT_LT(*turns[1].reward_now, *turns[1].reward_then) << "of the speedup of now";
}

TEST_F(ReplayTest, DifferentOutcome_IsReportedWithItsReason) {
  const StoredEpisode stored = recorded({measured(1.5, 1.4, 1.6)});
  const auto turns = replayed(stored, {outcome(Outcome::kWrong, "output out differs")});
  EXPECT_THAT(turns[0].differences,
              ElementsAre("outcome: correct then, wrong (output out differs) now"));
  EXPECT_EQ(*turns[0].reward_now, 0.1);
}

TEST_F(ReplayTest, OutcomeOfALaterVersion_IsShownAsItIs) {
  StoredEpisode stored = recorded({outcome(Outcome::kWrong), measured(1.5, 1.4, 1.6)});
  stored.turns[0] = with_outcome(stored.turns[0], "later_outcome");
  const auto turns = replayed(stored, {outcome(Outcome::kWrong), measured(1.5, 1.4, 1.6)});
  ASSERT_EQ(turns.size(), 2u);
  EXPECT_EQ(turns[0].then->outcome, "later_outcome");
  EXPECT_EQ(at(turns[0].then->value, {"outcome"}), Value("later_outcome"));
  EXPECT_FALSE(turns[0].then->known);
  EXPECT_THAT(turns[0].differences,
              Contains("outcome: later_outcome (a reason) then, wrong (a reason) now"));
  EXPECT_EQ(*turns[0].reward_now, 0.1) << "the verdict of now is scored";
  EXPECT_THAT(turns[1].differences, IsEmpty());
}

TEST_F(ReplayTest, OtherFingerprint_IsReported) {
  const StoredEpisode stored = recorded({measured(1.5, 1.4, 1.6)});
  Verdict now = measured(3, 2.5, 3.5);
  now.fingerprint = "cpu: another";
  const auto turns = replayed(stored, {now});
  EXPECT_THAT(
      turns[0].differences,
      ElementsAre("speedup: 1.5 (1.4 to 1.6) then, 3 (2.5 to 3.5) now; measured by scripted "
                  "then, by cpu: another now"));
}

TEST_F(ReplayTest, DifferentReward_IsReported) {
  StoredEpisode stored = recorded({outcome(Outcome::kWrong)});
  stored.record.reward_version = "0.9.0";
  const auto turns = replayed(stored, {outcome(Outcome::kWrong)}, "kevin");
  ASSERT_EQ(turns[0].differences.size(), 1u);
  EXPECT_THAT(turns[0].differences[0],
              HasSubstr("reward: 0.1 then; 0 now for the verdict of then; tritonforge was version "
                        "0.9.0, now 2.0.0"));
}

TEST_F(ReplayTest, MissingReward_IsReported) {
  const StoredEpisode stored = recorded({outcome(Outcome::kWrong)});
  const auto turns = replayed(stored, {outcome(Outcome::kWrong)}, "gone");
  EXPECT_THAT(turns[0].differences, ElementsAre("reward: tritonforge: no reward is called 'gone'"));
}

TEST_F(ReplayTest, ChangedTask_IsNotReplayed) {
  StoredEpisode stored = recorded({outcome(Outcome::kWrong)});
  stored.record.task_hash[0] ^= 1;
  const auto turns = plan_replay(stored, *environment_, *catalog_);
  ASSERT_FALSE(turns);
  EXPECT_EQ(turns.error().code, Code::kFailedPrecondition);
  EXPECT_EQ(turns.error().message, "its task 'tasks/add_relu' has changed since the episode began");
}

TEST_F(ReplayTest, FaultNow_IsADifferenceButAnUnscoredTurnIsNot) {
  script = {internal_error("the machine broke")};
  const Value episode = opened();
  static_cast<void>(stepped(episode, 1, "int a;"));
  const StoredEpisode stored = JournalledTest::recorded(episode);
  auto turns = replayed(stored, {outcome(Outcome::kWrong)});
  EXPECT_FALSE(turns[0].then);
  EXPECT_THAT(turns[0].differences, IsEmpty());
  turns = replayed(stored, {});
  EXPECT_THAT(turns[0].differences, ElementsAre("not judged now: not evaluated"));
}

}  // namespace
}  // namespace hone::test
