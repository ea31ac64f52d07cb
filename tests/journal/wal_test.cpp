// Damaged write-ahead logs, several names of one file, and file modes.
#include <gmock/gmock.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/files.hpp"
#include "journal/journal_fixture.hpp"
#include "journal/wal_check.hpp"

namespace hone::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr std::size_t kHeader = 32, kFrame = 24 + 4096;

/// Journals as a server that was killed leaves them: what was recorded lies in the log.
class WalTest : public JournalTest {
 protected:
  void SetUp() override {
    auto journal = opened();
    for (std::uint64_t id = 1; id <= 6; ++id) ASSERT_TRUE(add(*journal, episode_record(id)));
    killed_ = folder_ / "killed" / path_.filename();
    fs::create_directory(killed_.parent_path());
    fs::copy_file(path_, killed_);
    fs::copy_file(wal_of(path_), wal_of(killed_));
    log_ = *read_file(wal_of(killed_));
    ASSERT_GT(log_.size(), kHeader + 8 * kFrame);
  }
  static fs::path wal_of(fs::path path) { return path += "-wal"; }

  std::vector<std::size_t> commits() const {
    std::vector<std::size_t> ends;
    for (std::size_t at = kHeader; at + kFrame <= log_.size(); at += kFrame) {
      if (log_.substr(at + 4, 4) != std::string(4, '\0')) ends.push_back(at);
    }
    return ends;
  }
  void flip(std::size_t at) const {
    std::string bytes = log_;
    bytes[at] = static_cast<char>(bytes[at] ^ 4);
    ASSERT_TRUE(write_file(wal_of(killed_), bytes));
  }

  fs::path killed_;
  std::string log_;
};

TEST_F(WalTest, IntactLog_IsAccepted) {
  EXPECT_EQ(lost_in_wal(killed_), "");
  EXPECT_EQ(lost_in_wal(folder_ / "none"), "");
}

/// A loss of power may leave it so: no client had a reply.
TEST_F(WalTest, TornLastTransaction_IsAccepted) {
  const std::size_t before = commits()[commits().size() - 2] + kFrame;
  for (std::size_t size = before; size < log_.size(); size += 331) {
    ASSERT_TRUE(write_file(wal_of(killed_), std::string_view(log_).substr(0, size)));
    EXPECT_EQ(lost_in_wal(killed_), "") << size;
  }
  flip(before + 100);
  EXPECT_EQ(lost_in_wal(killed_), "");
}

TEST_F(WalTest, DamageBeforeLaterTransactions_IsRefused) {
  const std::size_t third_last = commits()[commits().size() - 3];
  for (const std::size_t at : {std::size_t{17}, kHeader + 1, kHeader + 9, kHeader + 17,
                               kHeader + 24 + 2000, third_last + 5, third_last + 30}) {
    flip(at);
    const std::string lost = lost_in_wal(killed_);
    // Salts of the header that are not those of the frames: as if these were of a log before it.
    if (at == 17) {
      EXPECT_EQ(lost, "");
      continue;
    }
    EXPECT_THAT(lost, HasSubstr("transactions from there on would be lost")) << at;
    const auto reader = JournalReader::open(killed_);
    ASSERT_FALSE(reader);
    EXPECT_THAT(reader.error().message, HasSubstr("is damaged: its write-ahead log is damaged"));
    JournalOptions options;
    options.path = killed_;
    const auto server = Journal::open(std::move(options));
    ASSERT_FALSE(server);
    EXPECT_THAT(server.error().message, HasSubstr("remove the -wal file"));
    EXPECT_TRUE(fs::exists(wal_of(killed_))) << "and nothing of it is gone";
  }
}

TEST_F(WalTest, LogOfARunningServer_IsNeverReportedDamaged) {
  auto journal = opened();
  std::atomic<bool> stop = false;
  std::thread writes([&] {
    for (std::uint64_t id = 100; !stop; ++id) static_cast<void>(add(*journal, episode_record(id)));
  });
  for (int i = 0; i < 200; ++i) EXPECT_EQ(lost_in_wal(path_), "");
  stop = true;
  writes.join();
}

TEST_F(WalTest, SecondServerByAnotherName_IsRefused) {
  const auto journal = opened();
  const fs::path link = folder_ / "link.db", twin = folder_ / "twin.db";
  fs::create_symlink(path_, link);
  JournalOptions options;
  options.path = link;
  auto second = Journal::open(std::move(options));
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("another server has this journal open"));
  fs::create_hard_link(path_, twin);
  JournalOptions others;
  others.path = twin;
  second = Journal::open(std::move(others));
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("it has 2 names (hard links), expected one"));
  EXPECT_FALSE(compact_journal(link, 0));
}

TEST_F(WalTest, JournalAndItsCopy_ArePrivateToTheUser) {
  const auto journal = opened();
  ASSERT_TRUE(add(*journal, episode_record(70)));
  const fs::path copy = folder_ / "copy.db";
  ASSERT_TRUE(journal->reader().copy_to(copy));
  for (const fs::path& path : {path_, wal_of(path_), copy}) {
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write)
        << path;
  }
  const Status again = journal->reader().copy_to(copy);
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("the file exists; name a new file"));
}

}  // namespace
}  // namespace hone::test
