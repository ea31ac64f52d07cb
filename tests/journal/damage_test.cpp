// Journals that are truncated, changed, unreadable or missing.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "base/files.hpp"
#include "journal/database.hpp"
#include "journal/journal_fixture.hpp"

namespace hone::test {
namespace {

using testing::HasSubstr;

class DamageTest : public JournalTest {
 protected:
  /// A small journal whose log has been folded into it.
  void make() {
    auto journal = opened();
    for (std::uint64_t id = 1; id <= 3; ++id) {
      ASSERT_TRUE(add(*journal, episode_record(id)));
      ASSERT_TRUE(add(*journal, turn_record(id, 1)));
      ASSERT_TRUE(add(*journal, call_record(id, 1, 1)));
    }
  }
};

/// Whatever is done to the file: either it is refused, or what is read of it is sound.
TEST_F(DamageTest, TruncatedFile_IsRefused) {
  make();
  const std::string whole = *read_file(path_);
  std::size_t refused = 0;
  for (std::size_t length = 0; length < whole.size(); length += 97) {
    ASSERT_TRUE(write_file(path_, std::string_view(whole).substr(0, length)));
    const auto reader = JournalReader::open(path_);
    if (!reader) {
      ++refused;
      continue;
    }
    const auto wrong = (*reader)->check();
    EXPECT_TRUE(!wrong || !wrong->empty()) << "cut at " << length << " and called sound";
    ++refused;
  }
  EXPECT_GT(refused, 100u);
}

TEST_F(DamageTest, FlippedBitInABlob_IsFound) {
  make();
  std::string bytes = *read_file(path_);
  const std::size_t at = bytes.find("code 2/1");
  ASSERT_NE(at, std::string::npos);
  bytes[at] = 'C';
  ASSERT_TRUE(write_file(path_, bytes));
  const auto wrong = (*JournalReader::open(path_))->check();
  ASSERT_TRUE(wrong) << wrong.error().message;
  EXPECT_THAT(*wrong,
              testing::ElementsAre("episode 0000000000000002, turn 1 does not match its checksum",
                                   HasSubstr("blob")));
}

/// What changes in an episode's row has a sum of its own: a bit that flipped there was believed.
TEST_F(DamageTest, FlippedBitInAChangingColumn_IsReportedAndNotUsed) {
  for (const char* flip : {"state = state | 1", "state = state | 4", "held = 0", "fingerprint = 76",
                           "changed_at = 5", "intent_turn = 2", "intent_seed = 1", "turns = 0"}) {
    SCOPED_TRACE(flip);
    std::filesystem::remove(path_);
    make();
    ASSERT_TRUE((*Database::open(path_, Database::Mode::kWrite))
                    ->execute("UPDATE episodes SET " + std::string(flip) + " WHERE id = 2"));
    auto journal = opened();
    const JournalReader& reader = journal->reader();
    const auto wrong = reader.check();
    ASSERT_TRUE(wrong) << wrong.error().message;
    EXPECT_THAT(*wrong, testing::Contains("episode 0000000000000002 does not match its checksum"));
    for (const auto& read : {reader.episode(2), reader.held_episode(2)}) {
      ASSERT_FALSE(read);
      EXPECT_THAT(read.error().message,
                  testing::StartsWith("journal " + path_.string() +
                                      ": it is damaged (episode 0000000000000002 does not match "
                                      "its checksum)"));
    }
    EpisodeFilter open_ones;
    open_ones.state = RecordState::kOpen;
    const auto lines = reader.list(open_ones);
    ASSERT_EQ(lines->size(), 3u) << "it is not left out either";
    EXPECT_EQ((*lines)[1].state, RecordState::kDamaged);
    std::string said;
    ASSERT_TRUE(reader.each(
        open_ones, [](const StoredEpisode&) { return Status(); },
        [&](const Error& error) { said += error.message; }));
    EXPECT_EQ(said, reader.episode(2).error().message);
    const Status more = add(*journal, turn_record(2, 2));
    ASSERT_FALSE(more) << "no change makes it good";
    EXPECT_THAT(more.error().message, HasSubstr("episode 0000000000000002 is missing or damaged"));
    EXPECT_FALSE(release(*journal, 2, RecordState::kClosed));
    ASSERT_TRUE(release(*journal, 3, RecordState::kClosed));
    journal.reset();
    EXPECT_EQ(*compact_journal(path_, 0), 1) << "and it is not forgotten";
    EXPECT_FALSE((*JournalReader::open(path_))->episode(2));
  }
}

TEST_F(DamageTest, ChangedOrMissingToolCall_IsReportedAndNotUsed) {
  for (const char* change : {"UPDATE calls SET tool = 'check' WHERE episode = 2",
                             "UPDATE calls SET reply = x'00' WHERE episode = 2",
                             "UPDATE calls SET action = 12345 WHERE episode = 2",
                             "UPDATE calls SET words = action WHERE episode = 2",
                             "UPDATE blobs SET bytes = x'00' WHERE id IN "
                             "(SELECT action FROM calls WHERE episode = 2)",
                             "DELETE FROM calls WHERE episode = 2 AND call = 1"}) {
    SCOPED_TRACE(change);
    std::filesystem::remove(path_);
    make();
    {
      auto journal = opened();
      ASSERT_TRUE(add(*journal, call_record(2, 1, 2)));
    }
    ASSERT_TRUE((*Database::open(path_, Database::Mode::kWrite))->execute(change));
    auto journal = opened();
    const auto wrong = journal->reader().check();
    ASSERT_TRUE(wrong) << wrong.error().message;
    EXPECT_FALSE(wrong->empty());
    const auto read = journal->reader().episode(2);
    ASSERT_FALSE(read);
    const bool is_missing = std::string_view(change).starts_with("DELETE");
    EXPECT_THAT(read.error().message,
                HasSubstr(is_missing ? "call 1 of turn 1 is missing"
                                     : "call 1 of turn 1 does not match its checksum"));
    EXPECT_TRUE(journal->reader().episode(1));
  }
}

TEST_F(DamageTest, DamagedPage_IsRefusedOrReported) {
  make();
  std::string bytes = *read_file(path_);
  for (std::size_t i = 4096; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7);
  ASSERT_TRUE(write_file(path_, bytes));
  const auto journal = open();
  const auto wrong =
      journal ? (*journal)->reader().check() : Result<std::vector<std::string>>(journal.error());
  EXPECT_TRUE(!wrong || !wrong->empty());
}

TEST_F(DamageTest, FileOfAnotherKind_IsRefused) {
  ASSERT_TRUE(write_file(path_, std::string(8192, 'x')));
  const auto journal = open();
  ASSERT_FALSE(journal);
  EXPECT_THAT(journal.error().message, HasSubstr("found a file of another kind"));
}

TEST_F(DamageTest, MissingJournal_IsReportedByTheReader) {
  const auto reader = JournalReader::open(path_);
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().code, Code::kNotFound);
}

TEST_F(DamageTest, Path_NamesAFolder_IsRefusedWithAFileInIt) {
  std::filesystem::create_directories(folder_ / "runs" / "one" / "two");
  std::filesystem::create_directory_symlink(folder_ / "runs", folder_ / "link");
  for (const std::string name : {"runs", "runs/", "link", "runs/one", "runs/."}) {
    path_ = folder_ / name;
    for (const Error& error :
         {open().error(), JournalReader::open(path_).error(), compact_journal(path_, 0).error()}) {
      EXPECT_EQ(error.code, Code::kInvalidArgument) << name;
      EXPECT_THAT(error.message, HasSubstr("found a folder, expected a file")) << name;
      EXPECT_THAT(error.message, HasSubstr("/journal.db")) << name;
    }
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "runs.lock"));
}

TEST_F(DamageTest, Path_InAFolderThatDoesNotExist_IsRefusedAndNothingIsMade) {
  for (const std::string name : {"absent/journal.db", "absent/deeper/journal.db"}) {
    path_ = folder_ / name;
    const auto journal = open();
    ASSERT_FALSE(journal);
    EXPECT_THAT(journal.error().message, HasSubstr("mkdir -p " + path_.parent_path().string()));
    EXPECT_FALSE(std::filesystem::exists(folder_ / "absent"));
    EXPECT_EQ(JournalReader::open(path_).error().code, Code::kNotFound);
  }
}

TEST_F(DamageTest, Path_NamesASpecialFile_IsRefused) {
  path_ = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THAT(open().error().message, HasSubstr("expected a regular file"));
  EXPECT_THAT(JournalReader::open(path_).error().message, HasSubstr("expected a regular file"));
  path_ = "/dev/null";
  EXPECT_THAT(open().error().message, HasSubstr("expected a regular file"));
}

TEST_F(DamageTest, MissingFolder_IsAnError) {
  ASSERT_TRUE(write_file(folder_ / "file", "x"));
  path_ = folder_ / "file" / "journal.db";
  const auto journal = open();
  ASSERT_FALSE(journal);
  EXPECT_THAT(journal.error().message, HasSubstr(path_.string()));
}

}  // namespace
}  // namespace hone::test
