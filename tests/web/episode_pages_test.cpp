// Requests that match no episode still end when their client is gone.
#include "web/episode_pages.hpp"

#include "journal/journal_fixture.hpp"

namespace hone {
namespace {

class Pages : public test::JournalTest {
 protected:
  /// A journal with enough turns that a scan asks whether its client is gone.
  void write_turns() {
    constexpr std::int64_t kTurns = 400;
    auto journal = opened();
    ASSERT_TRUE(add(*journal, test::episode_record(1)));
    for (std::int64_t turn = 0; turn < kTurns; ++turn)
      journal->add(test::turn_record(1, turn), [](const Status& done) { EXPECT_TRUE(done); });
    ASSERT_TRUE(sync(*journal));
  }
  EpisodePages pages() const {
    return EpisodePages(path_.string(),
                        [](const StoredEpisode&) -> Result<Value> { return Value::map(); });
  }
};

TEST_F(Pages, FilterWithoutMatch_IsCancelledWhenItsClientIsGone) {
  write_turns();
  const EpisodePages read = pages();
  const auto found = read.tasks({{"client", "nobody"}}, [] { return true; });
  ASSERT_FALSE(found) << "the scan went on without its client";
  EXPECT_EQ(found.error().code, Code::kCancelled) << found.error().message;
}

TEST_F(Pages, FilterWithoutMatch_IsEmpty) {
  write_turns();
  const EpisodePages read = pages();
  const auto found = read.tasks({{"client", "nobody"}}, [] { return false; });
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->find("tasks")->as_array().size(), 0u);
  const auto all = read.tasks({}, [] { return false; });
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->find("tasks")->as_array().size(), 1u);
}

TEST_F(Pages, BestSpeedup_HasTheIntervalOfItsReply) {
  auto journal = opened();
  ASSERT_TRUE(add(*journal, test::episode_record(1)));
  for (const auto& [number, speedup] : {std::pair(1, 2.0), std::pair(2, 6.0), std::pair(3, 3.0)}) {
    TurnRecord turn = test::turn_record(1, number);
    turn.outcome = "correct";
    turn.speedup = speedup;
    turn.words = nullptr;
    const Value verdict = Value::map(
        {{"speedup",
          Value::map({{"low", speedup - 1}, {"value", speedup}, {"high", speedup + 1}})}});
    turn.reply = std::make_shared<const std::string>(
        to_msgpack(Value::map({{"info", Value::map({{"verdict", verdict}})}})));
    ASSERT_TRUE(add(*journal, turn));
  }
  const auto found = pages().tasks({}, [] { return false; });
  ASSERT_TRUE(found) << found.error().message;
  for (const Value& row : {found->find("tasks")->as_array().at(0), *found->find("all")}) {
    EXPECT_EQ(row.find("best_speedup")->as_double(), 6);
    ASSERT_TRUE(row.find("best_low")->is_number()) << to_json(row);
    EXPECT_EQ(row.find("best_low")->as_double(), 5);
    EXPECT_EQ(row.find("best_high")->as_double(), 7);
  }
}

TEST_F(Pages, TaskWithoutItsDataset_IsFoundIfOneTaskHasThisName) {
  auto journal = opened();
  std::uint64_t id = 0;
  for (const char* task : {"a/one", "a/two", "b/two"}) {
    EpisodeRecord record = test::episode_record(++id);
    record.task = task;
    ASSERT_TRUE(add(*journal, record));
  }
  const EpisodePages read = pages();
  const auto episodes = [&read](const char* task) {
    const auto found = read.list({{"task", task}}, [] { return false; });
    return found ? static_cast<int>(found->find("episodes")->as_array().size()) : -1;
  };
  EXPECT_EQ(episodes("one"), 1);
  EXPECT_EQ(episodes("a/two"), 1);
  EXPECT_EQ(episodes("x/one"), 0);
  EXPECT_EQ(episodes("none"), 0);
  const auto refused = read.list({{"task", "two"}}, [] { return false; });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "task: found 'two', expected a/two or b/two");
}

TEST_F(Pages, OutcomeThatDoesNotExist_IsRefusedWithTheKnownOnes) {
  write_turns();
  const auto refused = pages().list({{"outcome", "foo"}}, [] { return false; });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kInvalidArgument);
  EXPECT_TRUE(
      refused.error().message.starts_with("outcome: found 'foo', expected one of no_code, "))
      << refused.error().message;
  EXPECT_TRUE(pages().list({{"outcome", "cheated"}}, [] { return false; }));
}

TEST_F(Pages, EpisodeNameOfZeros_IsOneThatDoesNotExist) {
  write_turns();
  EXPECT_EQ(pages().episode("0000000000000000").error().code, Code::kNotFound);
  EXPECT_EQ(pages().episode("000000000000000g").error().code, Code::kInvalidArgument);
}

TEST_F(Pages, Stop_EndsAScan) {
  write_turns();
  EpisodePages read = pages();
  read.stop();
  EXPECT_EQ(read.tasks({{"reward", "none"}}, [] { return false; }).error().code, Code::kCancelled);
}

}  // namespace
}  // namespace hone
