// Records are read back as written, also after a restart; and a journal has one server at a time.
#include "journal/journal.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "base/files.hpp"
#include "journal/database.hpp"
#include "journal/journal_fixture.hpp"

namespace hone::test {
namespace {

using testing::HasSubstr;

TEST_F(JournalTest, Records_RoundTrip) {
  EpisodeRecord record = episode_record(0xfedcba9876543210u);
  record.reset_key = sha256("key");
  record.parent = 5;
  record.parent_turn = 2;
  {
    auto journal = opened();
    ASSERT_TRUE(add(*journal, record));
    ASSERT_TRUE(add(*journal, turn_record(record.id, 1)));
    ASSERT_TRUE(add(*journal, turn_record(record.id, 2)));
  }
  auto journal = opened();
  const auto read = journal->reader().episode(record.id);
  ASSERT_TRUE(read && *read);
  const StoredEpisode& episode = **read;
  EXPECT_EQ(episode.record.token, record.token);
  EXPECT_EQ(episode.record.seed, record.seed);
  EXPECT_EQ(episode.record.group, record.group);
  EXPECT_EQ(episode.record.options, record.options);
  EXPECT_EQ(episode.record.reset_key, record.reset_key);
  EXPECT_EQ(episode.record.parent, 5u);
  EXPECT_EQ(episode.state, RecordState::kOpen);
  EXPECT_EQ(episode.fingerprint, 77u);
  ASSERT_EQ(episode.turns.size(), 2u);
  EXPECT_EQ(*episode.turns[1].action, *turn_record(record.id, 2).action);
  EXPECT_EQ(*episode.turns[1].reply, *turn_record(record.id, 2).reply);
  EXPECT_EQ(episode.turns[1].seed, record.id * 1000 + 2);
  EXPECT_EQ(episode.turns[0].speedup, 1.5);
  EXPECT_TRUE(std::isnan(episode.turns[0].reward));
}

TEST_F(JournalTest, ToolCalls_AreReadInOrderAndDeletedWithTheirEpisode) {
  {
    auto journal = opened();
    ASSERT_TRUE(add(*journal, episode_record(1)));
    ASSERT_TRUE(add(*journal, call_record(1, 1, 1)));
    ASSERT_TRUE(add(*journal, call_record(1, 1, 2)));
    ASSERT_TRUE(add(*journal, turn_record(1, 1)));
    ASSERT_TRUE(add(*journal, call_record(1, 2, 1)));
    EXPECT_FALSE(add(*journal, call_record(1, 2, 1))) << "a call is recorded once";
    EXPECT_FALSE(add(*journal, call_record(9, 1, 1))) << "there is no such episode";
    const StoredEpisode stored = **journal->reader().episode(1);
    ASSERT_EQ(stored.calls.size(), 3u);
    EXPECT_EQ(stored.calls[1].turn, 1);
    EXPECT_EQ(stored.calls[1].call, 2);
    EXPECT_EQ(stored.calls[2].turn, 2);
    EXPECT_EQ(stored.calls[2].tool, "profile");
    EXPECT_EQ(*stored.calls[2].reply, "answer to call 1/1");
    EXPECT_EQ(*journal->reader().check(), std::vector<std::string>());
    EXPECT_EQ(*journal->stats().find("calls"), Value(5));
    ASSERT_TRUE(release(*journal, 1, RecordState::kClosed));
  }
  EXPECT_EQ(*compact_journal(path_, 0), 1);
  auto journal = opened();
  EXPECT_FALSE(*journal->reader().episode(1));
  EXPECT_EQ(*journal->reader().check(), std::vector<std::string>());
}

TEST_F(JournalTest, OpenEpisodes_AreListed) {
  auto journal = opened();
  for (std::uint64_t id = 1; id <= 4; ++id) {
    EpisodeRecord record = episode_record(id, id % 2 == 0 ? "even" : "odd");
    record.reset_key = sha256(std::to_string(id));
    ASSERT_TRUE(add(*journal, record));
  }
  ASSERT_TRUE(add(*journal, turn_record(2, 1, true)));
  ASSERT_TRUE(add(*journal, turn_record(4, 1, true)));
  ASSERT_TRUE(release(*journal, 3, RecordState::kClosed));
  ASSERT_TRUE(release(*journal, 4, RecordState::kReaped));
  const auto held = journal->reader().held();
  ASSERT_TRUE(held);
  ASSERT_EQ(held->size(), 2u);
  EXPECT_EQ((*held)[0].client, "odd");
  EXPECT_FALSE((*held)[0].ended);
  EXPECT_TRUE((*held)[1].ended);
  EXPECT_EQ((*journal->reader().episode(3))->state, RecordState::kClosed);
  EXPECT_EQ((*journal->reader().episode(4))->state, RecordState::kEnded) << "it had ended before";
  EXPECT_EQ((*journal->reader().episode(4))->changed_at, turn_record(4, 1, true).at);
  EXPECT_FALSE(*journal->reader().held_episode(3));
  EXPECT_TRUE(*journal->reader().held_episode(2));
  EXPECT_EQ((*journal->reader().held_reset(sha256("1")))->first, 1u);
  EXPECT_FALSE(*journal->reader().held_reset(sha256("3"))) << "its key is free again";
}

TEST_F(JournalTest, Intent_IsKeptUntilItsTurnIsRecorded) {
  auto journal = opened();
  ASSERT_TRUE(add(*journal, episode_record(9)));
  journal->add(IntentRecord{9, 1, sha256("code"), 4711});
  ASSERT_TRUE(sync(*journal));
  const auto before = journal->reader().episode(9);
  ASSERT_TRUE((*before)->intent);
  EXPECT_EQ((*before)->intent->seed, 4711u);
  EXPECT_EQ((*before)->intent->action, sha256("code"));
  ASSERT_TRUE(add(*journal, turn_record(9, 1)));
  EXPECT_FALSE((*journal->reader().episode(9))->intent);
}

TEST_F(JournalTest, RepeatedSubmission_IsStoredOnce) {
  auto journal = opened();
  const std::string code(20000, 'x');
  for (std::uint64_t id = 1; id <= 50; ++id) {
    ASSERT_TRUE(add(*journal, episode_record(id)));
    ASSERT_TRUE(add(*journal, turn_record(id, 1, false, code)));
  }
  EXPECT_EQ(*journal->reader().check(), std::vector<std::string>());
  EXPECT_EQ(*(*journal->reader().episode(50))->turns[0].action, code);
  journal.reset();
  EXPECT_LT(std::filesystem::file_size(path_), 10 * code.size());
}

TEST_F(JournalTest, FailedRecord_DoesNotAffectOthers) {
  auto journal = opened();
  ASSERT_TRUE(add(*journal, episode_record(1)));
  std::atomic<int> good = 0, bad = 0;
  std::string message;
  const auto count = [&](const Status& done) { ++(done ? good : bad); };
  for (int i = 1; i <= 100; ++i) journal->add(turn_record(1, i), count);
  journal->add(turn_record(1, 50), [&](const Status& done) {
    count(done);
    message = done ? "" : done.error().message;
  });
  for (int i = 101; i <= 200; ++i) journal->add(turn_record(1, i), count);
  ASSERT_TRUE(sync(*journal));
  EXPECT_EQ(good, 200);
  EXPECT_EQ(bad, 1);
  EXPECT_THAT(message, HasSubstr("UNIQUE constraint failed: turns.episode, turns.turn"));
  EXPECT_EQ((*journal->reader().episode(1))->turns.size(), 200u);
}

TEST_F(JournalTest, ManyThreads_ShareASync) {
  auto journal = opened();
  ASSERT_TRUE(add(*journal, episode_record(1)));
  std::atomic<int> done = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i) {
        journal->add(turn_record(1, t * 100 + i + 1), [&](const Status& s) { done += s.ok(); });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(sync(*journal));
  EXPECT_EQ(done, 800);
  EXPECT_LT(journal->stats().find("syncs")->as_int(), 400) << "group commit";
}

TEST_F(JournalTest, QueuedRecords_AreWrittenAtTheEnd) {
  int done = 0;
  {
    auto journal = opened();
    for (std::uint64_t id = 1; id <= 100; ++id) {
      journal->add(episode_record(id), [&](const Status& s) { done += s.ok(); });
    }
  }
  EXPECT_EQ(done, 100);
  EXPECT_EQ(opened()->reader().held()->size(), 100u);
}

TEST_F(JournalTest, SecondServer_IsRefused) {
  auto first = opened();
  const auto second = open();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(second.error().message, HasSubstr("another server has this journal open"));
  EXPECT_TRUE(JournalReader::open(path_)) << "reading is allowed at the same time";
}

TEST_F(JournalTest, NewerSchema_IsRefused) {
  opened();
  {
    auto database = Database::open(path_, Database::Mode::kWrite);
    ASSERT_TRUE((*database)->execute("PRAGMA user_version = 99"));
  }
  const auto journal = open();
  ASSERT_FALSE(journal);
  EXPECT_THAT(journal.error().message, HasSubstr("found version 99 of the journal, this hone knows "
                                                 "up to 8; use a newer hone"));
  EXPECT_FALSE(JournalReader::open(path_));
}

TEST_F(JournalTest, OlderSchema_IsMigrated) {
  {
    auto journal = opened();
    ASSERT_TRUE(add(*journal, episode_record(1)));
    ASSERT_TRUE(add(*journal, turn_record(1, 1)));
  }
  make_older(1);
  const auto reader = JournalReader::open(path_);
  ASSERT_FALSE(reader);
  EXPECT_THAT(reader.error().message,
              HasSubstr("found version 1 of the journal, expected 8; a server that opens it"));
  const auto journal = opened();
  EXPECT_EQ((*journal->reader().episode(1))->turns.size(), 1u);
  auto database = Database::open(path_, Database::Mode::kRead);
  EXPECT_EQ(*(*database)->number("SELECT count(*) FROM sqlite_schema WHERE name = 'turns_action'"),
            1);
  EXPECT_EQ(*(*database)->number("PRAGMA user_version"), 8);
}

TEST_F(JournalTest, OlderJournal_OutcomesStoredAsNumbers_AreReadAsNames) {
  const std::vector<std::string> names{"no_code",   "rejected",      "build_failed", "crashed",
                                       "timed_out", "out_of_memory", "wrong",        "cheated",
                                       "correct",   "outcome_9"};
  const auto count = static_cast<std::int64_t>(names.size());
  {
    auto journal = opened();
    for (const std::uint64_t id : {1u, 2u}) ASSERT_TRUE(add(*journal, episode_record(id)));
    for (std::int64_t turn = 1; turn <= count; ++turn) {
      TurnRecord record = turn_record(1, turn);
      record.outcome = names[static_cast<std::size_t>(turn) - 1];
      ASSERT_TRUE(add(*journal, std::move(record)));
    }
    TurnRecord unscored = turn_record(1, count + 1);
    unscored.scored = false;
    unscored.outcome.clear();
    ASSERT_TRUE(add(*journal, std::move(unscored)));
    ASSERT_TRUE(add(*journal, turn_record(2, 1)));
  }
  make_older(5);
  {
    auto database = Database::open(path_, Database::Mode::kWrite);
    EXPECT_EQ(*(*database)->number("SELECT outcome FROM turns WHERE episode = 1 AND turn = 9"), 8);
    ASSERT_TRUE((*database)->execute("UPDATE turns SET outcome = 8 WHERE episode = 2"));
  }
  const auto journal = opened();
  const auto episode = journal->reader().episode(1);
  ASSERT_TRUE(episode) << episode.error().message;
  std::vector<std::string> found;
  for (const TurnRecord& turn : (*episode)->turns) found.push_back(turn.outcome);
  ASSERT_EQ(found.back(), "") << "it was not scored";
  found.pop_back();
  EXPECT_EQ(found, names);
  EXPECT_EQ(
      *journal->reader().check(),
      std::vector<std::string>{"episode 0000000000000002, turn 1 does not match its checksum"})
      << "a turn that was damaged before stays damaged";
}

TEST_F(JournalTest, UnknownOutcome_IsReadAndWrittenAsItIs) {
  auto journal = opened();
  ASSERT_TRUE(add(*journal, episode_record(1)));
  ASSERT_TRUE(add(*journal, episode_record(2)));
  TurnRecord later = turn_record(1, 1);
  later.outcome = "later_outcome";
  ASSERT_TRUE(add(*journal, std::move(later)));
  TurnRecord read = (*journal->reader().episode(1))->turns[0];
  EXPECT_EQ(read.outcome, "later_outcome");
  read.episode = 2;
  ASSERT_TRUE(add(*journal, std::move(read)));
  EXPECT_EQ((*journal->reader().episode(2))->turns[0].outcome, "later_outcome");
  EXPECT_EQ(*journal->reader().check(), std::vector<std::string>());
}

/// A statement that was left with rows to come kept SQLite from folding the log into the file
/// wherever a batch ended with an action that was known.
TEST_F(JournalTest, Log_StaysSmallWhenActionsRepeat) {
  auto journal = opened();
  ASSERT_TRUE(add(*journal, episode_record(1)));
  for (std::int64_t turn = 1; turn <= 400; ++turn) {
    TurnRecord record = turn_record(1, turn, false, "the same again");
    std::string reply(40'000, '\0');
    random_bytes({reinterpret_cast<std::uint8_t*>(reply.data()), reply.size()});
    record.reply = std::make_shared<const std::string>(std::move(reply));
    ASSERT_TRUE(add(*journal, std::move(record)));
  }
  EXPECT_LT(std::filesystem::file_size(path_.string() + "-wal"), 8u << 20) << "of 16 MB";
}

TEST_F(JournalTest, EmptyFile_IsRefused) {
  ASSERT_TRUE(write_file(path_, ""));
  const auto reader = JournalReader::open(path_);
  ASSERT_FALSE(reader);
  EXPECT_THAT(reader.error().message, HasSubstr("found an empty file, expected a journal"));
}

TEST_F(JournalTest, DatabaseOfAnotherProgram_IsRefused) {
  {
    auto database = Database::open(path_, Database::Mode::kWrite);
    ASSERT_TRUE((*database)->execute("CREATE TABLE accounts (id INTEGER)"));
  }
  const auto journal = open();
  ASSERT_FALSE(journal);
  EXPECT_THAT(journal.error().message, HasSubstr("found a database of another program"));
}

TEST_F(JournalTest, Filter_LimitsTheListedEpisodes) {
  auto journal = opened();
  for (std::uint64_t id = 1; id <= 10; ++id) {
    ASSERT_TRUE(add(*journal, episode_record(id, id <= 3 ? "a" : "b")));
    ASSERT_TRUE(add(*journal, turn_record(id, 1, id % 2 == 0)));
  }
  EpisodeFilter filter;
  EXPECT_EQ(journal->reader().list(filter)->size(), 10u);
  filter.client = "a";
  const auto lines = journal->reader().list(filter);
  ASSERT_EQ(lines->size(), 3u);
  EXPECT_EQ(lines->front().id, 3u) << "the newest first";
  EXPECT_EQ(lines->front().turns, 1);
  EXPECT_EQ(lines->front().best_speedup, 1.5);
  filter.state = RecordState::kEnded;
  EXPECT_EQ(journal->reader().list(filter)->size(), 1u);
  filter = {};
  filter.limit = 4;
  EXPECT_EQ(journal->reader().list(filter)->size(), 4u);
}

TEST_F(JournalTest, Pages_HaveEachEpisodeOnce) {
  auto journal = opened();
  for (std::uint64_t id = 1; id <= 23; ++id) {
    EpisodeRecord record =
        episode_record(id << 60 | id);               // half of them are negative numbers in SQLite
    record.opened_at = static_cast<double>(id / 5);  // several begin at the same time
    ASSERT_TRUE(add(*journal, record));
  }
  EpisodeFilter filter;
  const auto all = journal->reader().list(filter);
  ASSERT_EQ(all->size(), 23u);
  std::vector<std::uint64_t> paged, listed;
  for (const EpisodeLine& line : *all) listed.push_back(line.id);
  filter.limit = 4;
  for (;;) {
    const auto page = journal->reader().list(filter);
    ASSERT_TRUE(page.ok()) << page.error().message;
    if (page->empty()) break;
    for (const EpisodeLine& line : *page) paged.push_back(line.id);
    filter.after = {page->back().opened_at, page->back().id};
  }
  EXPECT_EQ(paged, listed);
}

TEST_F(JournalTest, Search_FindsPartsOfNamesAndFirstDigits) {
  auto journal = opened();
  EpisodeRecord one = episode_record(0xabc0000000000001u, "Trainer 50%_'\"");
  one.task = "tasks/Softmax";
  EpisodeRecord other = episode_record(0x12ab000000000002u, "other");
  for (const EpisodeRecord& record : {one, other}) ASSERT_TRUE(add(*journal, record));
  ASSERT_TRUE(add(*journal, turn_record(other.id, 1)));
  const auto found = [&](const std::string& search, const std::string& outcome = {}) {
    EpisodeFilter filter;
    filter.search = search;
    filter.outcome = outcome;
    std::vector<std::uint64_t> ids;
    const auto lines = journal->reader().list(filter);
    EXPECT_TRUE(lines.ok());
    for (const EpisodeLine& line : *lines) ids.push_back(line.id);
    return ids;
  };
  using Ids = std::vector<std::uint64_t>;
  EXPECT_EQ(found("softMAX"), Ids{one.id});
  EXPECT_EQ(found("50%_'\""), Ids{one.id}) << "no character is a pattern";
  EXPECT_EQ(found("%"), Ids{one.id});
  EXPECT_EQ(found("ABC"), Ids{one.id});
  EXPECT_EQ(found("12ab000000000002"), Ids{other.id});
  EXPECT_EQ(found("ab0000"), Ids{}) << "digits count only from the first";
  EXPECT_EQ(found("", "crashed"), Ids{other.id});
  EXPECT_EQ(found("", "cheated"), Ids{});
}

TEST_F(JournalTest, TurnFacts_AreVisitedOnceForABranchAndItsParent) {
  auto journal = opened();
  const EpisodeRecord parent = episode_record(1);
  EpisodeRecord branch = episode_record(2);
  branch.parent = 1;
  branch.parent_turn = 1;
  branch.task = "tasks/gelu";
  for (const EpisodeRecord& record : {parent, branch}) {
    ASSERT_TRUE(add(*journal, record));
    ASSERT_TRUE(add(*journal, turn_record(record.id, 1)));
    ASSERT_TRUE(add(*journal, turn_record(record.id, 2)));
  }
  std::vector<std::string> tasks;
  ASSERT_TRUE(journal->reader().each_turn([&](const TurnLine& turn) {
    EXPECT_EQ(turn.outcome, "crashed");
    EXPECT_TRUE(turn.scored);
    EXPECT_EQ(turn.speedup, 1.5);
    tasks.push_back(turn.task);
    return true;
  }));
  std::sort(tasks.begin(), tasks.end());
  EXPECT_EQ(tasks, (std::vector<std::string>{"tasks/add_relu", "tasks/add_relu", "tasks/gelu"}));
  int visited = 0;
  ASSERT_TRUE(journal->reader().each_turn([&](const TurnLine&) { return ++visited < 2; }));
  EXPECT_EQ(visited, 2) << "it ends when asked to";
  const auto episodes = journal->reader().tasks();
  ASSERT_EQ(episodes->size(), 2u);
  EXPECT_EQ(episodes->front().episodes, 1);
}

TEST_F(JournalTest, TurnFacts_OfOneClientOrReward_LeaveOutOtherEpisodes) {
  auto journal = opened();
  EpisodeRecord one = episode_record(1), other = episode_record(2);
  one.client = "first' OR 1 = 1 --";
  other.client = "second";
  other.reward = "another";
  other.task = "tasks/gelu";
  for (const EpisodeRecord& record : {one, other}) {
    ASSERT_TRUE(add(*journal, record));
    ASSERT_TRUE(add(*journal, turn_record(record.id, 1)));
  }
  const auto found = [&](const std::string& client, const std::string& reward) {
    EpisodeFilter filter;
    filter.client = client;
    filter.reward = reward;
    std::vector<std::string> tasks;
    EXPECT_TRUE(journal->reader().each_turn(
        [&](const TurnLine& turn) {
          tasks.push_back(turn.task);
          return true;
        },
        filter));
    EXPECT_EQ(journal->reader().tasks(filter)->size(), tasks.size());
    return tasks;
  };
  using Tasks = std::vector<std::string>;
  EXPECT_EQ(found(one.client, ""), Tasks{one.task});
  EXPECT_EQ(found("", "another"), Tasks{other.task});
  EXPECT_EQ(found(one.client, "another"), Tasks{});
  EXPECT_EQ(found("", "").size(), 2u);
  EXPECT_EQ(journal->reader().names(JournalReader::Name::kReward)->size(), 2u);
}

TEST_F(JournalTest, TurnFacts_HaveTheReplyOfATurnThatEndedItsEpisodeIfAsked) {
  auto journal = opened();
  ASSERT_TRUE(add(*journal, episode_record(1)));
  ASSERT_TRUE(add(*journal, turn_record(1, 1)));
  const TurnRecord last = turn_record(1, 2, true);
  ASSERT_TRUE(add(*journal, last));
  for (const bool asked : {false, true}) {
    std::vector<std::string> replies;
    ASSERT_TRUE(journal->reader().each_turn(
        [&](const TurnLine& turn) {
          if (!turn.reply.empty()) replies.push_back(turn.reply);
          return true;
        },
        {}, asked));
    EXPECT_EQ(replies, asked ? std::vector<std::string>{*last.reply} : std::vector<std::string>());
  }
}

TEST_F(JournalTest, List_OfOneReward_LeavesOutOtherEpisodes) {
  auto journal = opened();
  EpisodeRecord other = episode_record(2);
  other.reward = "another";
  ASSERT_TRUE(add(*journal, episode_record(1)));
  ASSERT_TRUE(add(*journal, other));
  EpisodeFilter filter;
  filter.reward = "another";
  const auto lines = journal->reader().list(filter);
  ASSERT_EQ(lines->size(), 1u);
  EXPECT_EQ(lines->front().id, 2u);
}

TEST_F(JournalTest, Copy_WorksDuringWrites) {
  auto journal = opened();
  ASSERT_TRUE(add(*journal, episode_record(1)));
  ASSERT_TRUE(journal->reader().copy_to(folder_ / "copy.db"));
  ASSERT_TRUE(add(*journal, episode_record(2)));
  const auto copy = JournalReader::open(folder_ / "copy.db");
  ASSERT_TRUE(copy) << copy.error().message;
  EXPECT_EQ((*copy)->held()->size(), 1u);
  EXPECT_FALSE(journal->reader().copy_to(folder_ / "copy.db")) << "nothing is overwritten";
}

}  // namespace
}  // namespace hone::test
