// Compression of replies by their repeated text, and exact decompression.
#include "journal/repeats.hpp"

#include <gtest/gtest.h>

#include <random>

#include "journal/database.hpp"
#include "journal/journal_fixture.hpp"

namespace hone::test {
namespace {

/// Text that does not repeat.
std::string text_of(std::uint64_t seed, std::size_t bytes) {
  std::mt19937_64 random(seed);
  std::string text;
  while (text.size() < bytes) text += static_cast<char>(' ' + random() % 95);
  return text;
}

std::string there_and_back(const std::string& reply, const std::string& action,
                           const std::string& words) {
  const auto whole = with_repeats(without_repeats(reply, action, words), action, words);
  return whole ? *whole : "nothing";
}

TEST(RepeatsTest, ReplyWithRepeatedText_IsSmall) {
  const std::string code = text_of(1, 6000), words = text_of(2, 2000);
  const std::string cut = words.substr(0, 700) + "…" + words.substr(1500);
  const std::string reply = "head" + code + "between" + cut + "more" + cut + words + code + "tail";
  const std::string left = without_repeats(reply, code, words);
  EXPECT_LT(left.size(), 100u);
  EXPECT_EQ(with_repeats(left, code, words), reply);
  EXPECT_LT(without_repeats(reply, "", "").size(), code.size() + words.size() + 200)
      << "it repeats itself";
}

TEST(RepeatsTest, EveryReply_RoundTrips) {
  for (const std::size_t size : {0u, 1u, 7u, 8u, 11u, 12u, 13u, 127u, 128u, 129u, 20000u}) {
    const std::string reply = text_of(size, size);
    EXPECT_EQ(there_and_back(reply, "", ""), reply) << size;
    EXPECT_EQ(there_and_back(reply, reply, ""), reply) << size;
    EXPECT_EQ(there_and_back(reply, "", reply), reply) << size;
    EXPECT_EQ(there_and_back(std::string(size, 'r'), "", ""), std::string(size, 'r')) << size;
  }
}

/// Pieces of each other, with bytes changed here and there.
TEST(RepeatsTest, RandomRepetitions_RoundTrip) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](std::size_t end) { return static_cast<std::size_t>(random() % end); };
    const std::string action = text_of(seed, below(300)), words = text_of(~seed, below(300));
    std::string reply;
    for (std::size_t pieces = below(12); pieces > 0; --pieces) {
      const std::string& from = random() % 3 == 0 ? reply : random() % 2 == 0 ? action : words;
      const std::string piece = from.substr(below(from.size() + 1), below(120));
      reply += piece;
      if (!reply.empty() && random() % 2 == 0) reply[below(reply.size())] = 'x';
    }
    ASSERT_EQ(there_and_back(reply, action, words), reply) << "seed " << seed;
  }
}

TEST(RepeatsTest, RandomBytes_AreRefusedOrShort) {
  const std::string code = text_of(1, 300);
  const std::string left = without_repeats("a" + code + "b" + code, code, "");
  EXPECT_NE(with_repeats(left, "", ""), "a" + code + "b" + code) << "of other texts";
  EXPECT_FALSE(with_repeats("\x05xxx", "", "")) << "fewer bytes than it says";
  EXPECT_FALSE(with_repeats(std::string("\x01x\x05\x01", 4), "", "")) << "a place not yet made";
  EXPECT_FALSE(with_repeats("\xff\xff\xff\xff\xff\xff\x01", "", "")) << "a number without end";
  EXPECT_FALSE(with_repeats(std::string("\x01x\xff\xff\xff\xff\x0f\x00", 8), "", ""))
      << "a reply of gigabytes";
  for (std::size_t size = 0; size < left.size(); ++size) {
    const auto cut = with_repeats(std::string_view(left).substr(0, size), code, "");
    EXPECT_TRUE(!cut || cut->size() < 602u) << "cut at " << size;
  }
}

class RepeatsInJournalTest : public JournalTest {
 protected:
  std::int64_t number(const std::string& sql) {
    auto database = Database::open(path_, Database::Mode::kRead);
    return *(*database)->number(sql);
  }
};

TEST_F(RepeatsInJournalTest, CodeAndCompilerOutput_AreStoredOnce) {
  const std::string code = text_of(1, 20000), words = text_of(2, 20000);
  auto journal = opened();
  for (std::uint64_t id = 1; id <= 20; ++id) {
    ASSERT_TRUE(add(*journal, episode_record(id)));
    TurnRecord turn = turn_record(id, 1, false, code);
    turn.words = std::make_shared<const std::string>(words);
    turn.reply = std::make_shared<const std::string>("of " + std::to_string(id) + code + words +
                                                     words.substr(5000) + code);
    ASSERT_TRUE(add(*journal, std::move(turn)));
  }
  EXPECT_EQ(*journal->reader().check(), std::vector<std::string>());
  EXPECT_EQ(number("SELECT count(*) FROM blobs"), 2);
  EXPECT_LT(number("SELECT max(length(reply)) FROM turns"), 100);
  const auto read = journal->reader().episode(7);
  EXPECT_EQ(*(*read)->turns[0].reply, "of 7" + code + words + words.substr(5000) + code);
  EXPECT_EQ(*(*read)->turns[0].words, words) << "a branch refers to them too";
}

TEST_F(RepeatsInJournalTest, CompilerOutput_IsDeletedWithItsLastTurn) {
  {
    auto journal = opened();
    for (std::uint64_t id = 1; id <= 2; ++id) {
      ASSERT_TRUE(add(*journal, episode_record(id)));
      TurnRecord turn = turn_record(id, 1);
      turn.words = std::make_shared<const std::string>(1000, 'w');
      ASSERT_TRUE(add(*journal, std::move(turn)));
    }
    EXPECT_EQ(number("SELECT uses FROM blobs WHERE length(bytes) = 1000"), 2);
    ASSERT_TRUE(release(*journal, 1, RecordState::kClosed));
    ASSERT_TRUE(release(*journal, 2, RecordState::kClosed));
  }
  ASSERT_TRUE(compact_journal(path_, 0));
  EXPECT_EQ(number("SELECT count(*) FROM blobs"), 0);
}

/// Version 3 held replies whole, and in a row's sum.
TEST_F(RepeatsInJournalTest, Version3Journal_IsMigratedAndItsDamageKept) {
  const std::string code = text_of(1, 5000);
  {
    auto journal = opened();
    for (std::uint64_t id = 1; id <= 3; ++id) {
      ASSERT_TRUE(add(*journal, episode_record(id)));
      TurnRecord turn = turn_record(id, 1, false, code);
      turn.reply = std::make_shared<const std::string>("reply " + std::to_string(id) + code + code);
      ASSERT_TRUE(add(*journal, std::move(turn)));
    }
  }
  {
    make_older(3);
    auto database = Database::open(path_, Database::Mode::kWrite);
    ASSERT_TRUE((*database)->execute("UPDATE turns SET reward = 99 WHERE episode = 2"));
    EXPECT_GT(number("SELECT min(length(reply)) FROM turns"), 10000);
  }
  const auto journal = opened();
  EXPECT_LT(number("SELECT max(length(reply)) FROM turns"), 50);
  EXPECT_EQ(*(*journal->reader().episode(3))->turns[0].reply, "reply 3" + code + code);
  EXPECT_FALSE(journal->reader().episode(2)) << "a turn that was damaged before stays damaged";
  const auto wrong = journal->reader().check();
  ASSERT_EQ(wrong->size(), 1u);
  EXPECT_EQ(wrong->front(), "episode 0000000000000002, turn 1 does not match its checksum");
}

CallRecord call_of_code(std::uint64_t episode, std::int64_t call, const std::string& code,
                        const std::string& words) {
  CallRecord record = call_record(episode, 1, call);
  record.action = std::make_shared<const std::string>(code);
  record.hash = sha256(code);
  record.words = std::make_shared<const std::string>(words);
  record.reply = std::make_shared<const std::string>("call " + std::to_string(call) + code + words +
                                                     words.substr(100) + code);
  return record;
}

TEST_F(RepeatsInJournalTest, ToolCalls_AreStoredLikeTurns) {
  const std::string code = text_of(1, 20000), words = text_of(2, 20000);
  {
    auto journal = opened();
    for (std::uint64_t id = 1; id <= 10; ++id) {
      ASSERT_TRUE(add(*journal, episode_record(id)));
      ASSERT_TRUE(add(*journal, call_of_code(id, 1, code, words)));
      ASSERT_TRUE(add(*journal, call_of_code(id, 2, code, words)));
      ASSERT_TRUE(add(*journal, turn_record(id, 1, false, code)));
      ASSERT_TRUE(release(*journal, id, RecordState::kClosed));
    }
    EXPECT_EQ(*journal->reader().check(), std::vector<std::string>());
    EXPECT_EQ(number("SELECT count(*) FROM blobs"), 3) << "code, and the output of each kind";
    EXPECT_EQ(number("SELECT max(uses) FROM blobs"), 30);
    EXPECT_LT(number("SELECT max(length(reply)) FROM calls"), 100);
    const CallRecord call = (*journal->reader().episode(7))->calls.at(1);
    EXPECT_EQ(*call.reply, *call_of_code(7, 2, code, words).reply);
    EXPECT_EQ(*call.action, code);
    EXPECT_EQ(*call.words, words);
  }
  EXPECT_EQ(*compact_journal(path_, 0), 10);
  EXPECT_EQ(number("SELECT count(*) FROM blobs"), 0);
}

/// Version 7 held calls whole.
TEST_F(RepeatsInJournalTest, Version7Journal_CallsAreCompressedAndTheirDamageKept) {
  const std::string code = text_of(1, 5000), words = text_of(2, 5000);
  {
    auto journal = opened();
    for (std::uint64_t id = 1; id <= 3; ++id) {
      ASSERT_TRUE(add(*journal, episode_record(id)));
      ASSERT_TRUE(add(*journal, call_of_code(id, 1, code, words)));
      ASSERT_TRUE(add(*journal, turn_record(id, 1, false, id == 1 ? code : "other code")));
    }
  }
  make_older(7);
  EXPECT_GT(number("SELECT min(length(reply)) FROM calls"), 15000);
  ASSERT_TRUE((*Database::open(path_, Database::Mode::kWrite))
                  ->execute("UPDATE calls SET tool = 'check' WHERE episode = 2"));
  const auto journal = opened();
  EXPECT_LT(number("SELECT max(length(reply)) FROM calls"), 6000) << "without the code";
  EXPECT_EQ(*(*journal->reader().episode(3))->calls[0].reply,
            *call_of_code(3, 1, code, words).reply);
  EXPECT_FALSE(journal->reader().episode(2)) << "a call that was damaged before stays damaged";
  EXPECT_EQ(*journal->reader().check(),
            std::vector<std::string>{
                "episode 0000000000000002, turn 1, call 1 does not match its checksum"});
}

}  // namespace
}  // namespace hone::test
