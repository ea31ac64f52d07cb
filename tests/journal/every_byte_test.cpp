// A small journal, truncated or with one bit flipped, at every place: it is refused with a reason, or intact. No
// step may differ from the acknowledged one.
#include <gmock/gmock.h>

#include <set>

#include "base/files.hpp"
#include "journal/journal_fixture.hpp"

namespace hone::test {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kEpisodes = 3;
constexpr std::int64_t kTurns = 2;
constexpr std::size_t kPage = 4096, kLogHeader = 32, kFrame = kPage + 24;

class EveryByteTest : public JournalTest {
 protected:
  /// The file as a server leaves it that ends, and the file and its log as one that is killed does.
  void SetUp() override {
    {
      auto journal = opened();
      for (std::uint64_t id = 1; id <= kEpisodes; ++id) {
        ASSERT_TRUE(add(*journal, episode_record(id)));
        for (std::int64_t turn = 1; turn <= kTurns; ++turn) {
          ASSERT_TRUE(add(*journal, turn_record(id, turn)));
          ASSERT_TRUE(add(*journal, call_record(id, turn, 1)));
        }
      }
      open_ = *read_file(path_);
      log_ = *read_file(path_.string() + "-wal");
    }
    folded_ = *read_file(path_);
    ASSERT_GE(folded_.size(), 10 * kPage);
    ASSERT_GT(log_.size(), kLogHeader + 10 * kFrame);
  }

  void put(std::string_view file, std::string_view log) {
    std::filesystem::remove(path_.string() + "-shm");
    std::filesystem::remove(path_.string() + "-wal");
    ASSERT_TRUE(write_file(path_, file));
    if (log.empty()) return;
    ASSERT_TRUE(write_file(path_.string() + "-wal", log));
  }

  static void expect_as_stored(const TurnRecord& turn) {
    const TurnRecord was = turn_record(turn.episode, turn.turn);
    EXPECT_EQ(*turn.action, *was.action);
    EXPECT_EQ(*turn.reply, *was.reply);
    EXPECT_TRUE(!turn.words || *turn.words == *was.words) << "older versions kept none";
    EXPECT_TRUE(turn.hash == was.hash && turn.seed == was.seed && turn.outcome == was.outcome &&
                turn.scored == was.scored && turn.speedup == was.speedup &&
                turn.fingerprint == was.fingerprint && turn.ended == was.ended &&
                turn.at == was.at);
  }

  static void expect_as_stored(const CallRecord& call) {
    const CallRecord was = call_record(call.episode, call.turn, call.call);
    EXPECT_EQ(*call.action, *was.action);
    EXPECT_EQ(*call.reply, *was.reply);
    EXPECT_TRUE(call.hash == was.hash && call.tool == was.tool && call.at == was.at);
  }

  /// Reads all there is. How many turns were read; nullopt: something was refused.
  std::optional<std::int64_t> read() {
    const auto reader = JournalReader::open(path_);
    if (!reader) {
      EXPECT_THAT(reader.error().message, HasSubstr(path_.string()));
      return {};
    }
    std::int64_t turns = 0;
    bool refused = false;
    for (std::uint64_t id = 1; id <= kEpisodes; ++id) {
      const auto episode = (*reader)->episode(id);
      if (!episode) {
        EXPECT_GT(episode.error().message.size(), 10u);
        refused = true;
      } else if (*episode) {
        EXPECT_EQ((*episode)->record.task, "tasks/add_relu");
        EXPECT_EQ((*episode)->record.seed, id ^ 0x8000000000000001u);
        EXPECT_EQ((*episode)->state, RecordState::kOpen);
        EXPECT_FALSE((*episode)->intent);
        EXPECT_TRUE((*episode)->turns.empty() || (*episode)->fingerprint == 77);
        for (const TurnRecord& turn : (*episode)->turns) expect_as_stored(turn);
        for (const CallRecord& call : (*episode)->calls) expect_as_stored(call);
        turns += static_cast<std::int64_t>((*episode)->turns.size());
      }
    }
    const auto wrong = (*reader)->check();
    if (refused || !wrong || !wrong->empty()) return {};
    return turns;
  }

  /// Every byte below `head`, those around the multiples of `step`, and one in `stride` elsewhere.
  static std::set<std::size_t> places(std::size_t size, std::size_t head, std::size_t first,
                                      std::size_t step, std::size_t stride) {
    std::set<std::size_t> found;
    for (std::size_t at = 0; at < std::min(head, size); ++at) found.insert(at);
    for (std::size_t at = first; at <= size; at += step) {
      for (const std::size_t near : {at - 1, at, at + 1}) {
        if (near < size) found.insert(near);
      }
    }
    for (std::size_t at = 0; at < size; at += stride) found.insert(at);
    return found;
  }

  std::string folded_, open_, log_;
};

/// Every byte of the header, each end of a page, and every 61st byte besides.
TEST_F(EveryByteTest, TruncatedFile_IsRefused) {
  for (const std::size_t size : places(folded_.size(), 256, kPage, kPage, 61)) {
    put(std::string_view(folded_).substr(0, size), {});
    ASSERT_EQ(read(), std::nullopt) << "cut at " << size << " of " << folded_.size();
  }
}

/// Every byte of the log's header and of its first frame's, each end of a frame, and every 257th.
TEST_F(EveryByteTest, TruncatedLog_HasTheEarlierSteps) {
  std::int64_t before = 0;
  for (const std::size_t size : places(log_.size(), 80, kLogHeader, kFrame, 257)) {
    put(open_, std::string_view(log_).substr(0, size));
    const auto turns = read();
    if (!turns) continue;  // before its first transaction there is no journal yet
    ASSERT_GE(*turns, before) << "cut at " << size << ": a longer log held less";
    before = *turns;
  }
  EXPECT_GE(before, static_cast<std::int64_t>(kEpisodes) * kTurns - 1);
  put(open_, log_);
  EXPECT_EQ(read(), static_cast<std::int64_t>(kEpisodes) * kTurns);
}

/// A bit of every byte of the header, of those at each end of a page, and of every 29th besides. Found
/// by fuzzing: a reply, a reward or a task's hash that had changed was believed.
TEST_F(EveryByteTest, FlippedBitInTheFile_ChangesNoStep) {
  std::size_t refused = 0, sound = 0;
  for (const std::size_t at : places(folded_.size(), 100, kPage, kPage, 29)) {
    std::string file = folded_;
    file[at] = static_cast<char>(static_cast<unsigned char>(file[at]) ^ 1u << at % 8);
    put(file, {});
    const auto turns = read();
    ASSERT_FALSE(HasFailure()) << "a bit of byte " << at;
    if (turns) {
      ASSERT_EQ(*turns, static_cast<std::int64_t>(kEpisodes) * kTurns) << "a bit of byte " << at;
    }
    ++(turns ? sound : refused);
  }
  EXPECT_GT(refused, 100u);
  EXPECT_GT(sound, 100u) << "most of a small journal is room";
}

TEST_F(EveryByteTest, FlippedBitInTheLog_ChangesNoStep) {
  std::size_t fewer = 0;
  for (const std::size_t at : places(log_.size(), 80, kLogHeader, kFrame, 257)) {
    std::string log = log_;
    log[at] = static_cast<char>(static_cast<unsigned char>(log[at]) ^ 1u << at % 8);
    put(open_, log);
    const auto turns = read();
    ASSERT_FALSE(HasFailure()) << "a bit of byte " << at;
    fewer += turns != static_cast<std::int64_t>(kEpisodes) * kTurns ? 1u : 0u;
  }
  EXPECT_GT(fewer, 100u) << "a frame that is not what was written ends the log";
}

/// A journal of version 2 has no sums: they are made when a server opens it.
TEST_F(EveryByteTest, OlderJournal_IsMigrated) {
  put(folded_, {});
  make_older(2);
  EXPECT_THAT(JournalReader::open(path_).error().message,
              HasSubstr("found version 2 of the journal, expected"));
  {
    auto journal = opened();
    ASSERT_TRUE(add(*journal, turn_record(1, kTurns + 1)));
  }
  EXPECT_EQ(read(), static_cast<std::int64_t>(kEpisodes) * kTurns + 1);
}

}  // namespace
}  // namespace hone::test
