// Damaged write-ahead logs, several names of one file, and file modes.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <grp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/files.hpp"
#include "base/unique_fd.hpp"
#include "journal/journal_fixture.hpp"
#include "journal/wal_check.hpp"

namespace hone::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

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

/// What an ordinary user who owns no file reads of a journal: "N episodes", or the error. Reads in a child process,
/// because root cannot return from an ordinary user to root. `meanwhile`: called there once the journal is open.
std::string read_as_ordinary_user(
    const fs::path& path, const std::function<void()>& meanwhile = [] {}) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr unsigned kNobody = 65534;
    const bool is_ordinary = ::geteuid() != 0 || (::setgroups(0, nullptr) == 0 &&
                                                  ::setresgid(kNobody, kNobody, kNobody) == 0 &&
                                                  ::setresuid(kNobody, kNobody, kNobody) == 0);
    std::string said = is_ordinary ? "" : "still root";
    if (is_ordinary) {
      const auto reader = JournalReader::open(path);
      meanwhile();
      const auto wrong = reader ? (*reader)->check() : reader.error();
      const auto count = reader ? (*reader)->count_episodes() : reader.error();
      said = !wrong            ? wrong.error().message
             : !wrong->empty() ? wrong->front()
             : !count          ? count.error().message
                               : std::to_string(*count) + " episodes";
    }
    ::_exit(::write(ends[1], said.data(), said.size()) < 0 ? 1 : 0);
  }
  ::close(ends[1]);
  std::string said;
  char bytes[512];
  for (ssize_t got; (got = ::read(ends[0], bytes, sizeof bytes)) > 0;)
    said.append(bytes, static_cast<std::size_t>(got));
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return said;
}

/// Makes a folder and its files read-only, until the destructor.
class LockedFolder {
 public:
  LockedFolder(const fs::path& above, const fs::path& folder) : folder_(folder) {
    constexpr auto kRead = fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read;
    constexpr auto kEnter = fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
    fs::permissions(above, kRead | kEnter | fs::perms::owner_write);
    for (const auto& file : fs::directory_iterator(folder)) fs::permissions(file, kRead);
    fs::permissions(folder, kRead | kEnter);
  }
  ~LockedFolder() { fs::permissions(folder_, fs::perms::owner_all); }

 private:
  const fs::path folder_;
};

TEST_F(WalTest, ClosedJournalInAFolderThatCannotBeWritten_IsRead) {
  const fs::path closed = folder_ / "killed" / "closed, 100%? #1.db";
  fs::remove(wal_of(killed_));
  fs::remove(killed_);
  fs::copy_file(path_, closed);
  const LockedFolder locked(folder_, closed.parent_path());
  EXPECT_EQ(read_as_ordinary_user(closed), "6 episodes");
}

TEST_F(WalTest, JournalThatIsWrittenWhileItIsReadWithoutALock_IsNotCalledDamaged) {
  const fs::path closed = folder_ / "killed" / "closed.db";
  fs::remove(wal_of(killed_));
  fs::remove(killed_);
  fs::copy_file(path_, closed);
  fs::last_write_time(closed, fs::file_time_type::clock::now() - std::chrono::hours(1));
  const UniqueFd server(::open(closed.c_str(), O_WRONLY | O_CLOEXEC));
  const std::string pages(static_cast<std::size_t>(fs::file_size(closed)) - 8192, 'x');
  const LockedFolder locked(folder_, closed.parent_path());
  const auto write = [&] {
    ASSERT_EQ(::pwrite(server.get(), pages.data(), pages.size(), 8192),
              static_cast<ssize_t>(pages.size()));
  };
  EXPECT_THAT(read_as_ordinary_user(closed, write), HasSubstr("wrote to it while it was read"));
  EXPECT_THAT(read_as_ordinary_user(closed),
              AllOf(Not(HasSubstr("meanwhile")), Not(HasSubstr("episodes"))))
      << "the same content is damage for a reader that comes later";
}

TEST_F(WalTest, JournalWithALogInAFolderThatCannotBeWritten_ErrorNamesBothFiles) {
  const LockedFolder locked(folder_, killed_.parent_path());
  EXPECT_EQ(read_as_ordinary_user(killed_),
            "journal " + killed_.string() + ": its last changes are in " +
                wal_of(killed_).filename().string() +
                ", and reading them requires a folder that you can write; copy " +
                killed_.string() + " and " + wal_of(killed_).string() + " to such a folder");
}

TEST_F(WalTest, UnfinishedRollbackInAFolderThatCannotBeWritten_IsNotReadAsGood) {
  const fs::path broken = folder_ / "killed" / "broken.db";
  fs::remove(wal_of(killed_));
  fs::remove(killed_);
  fs::copy_file(path_, broken);
  ASSERT_TRUE(write_file(broken.string() + "-journal", "pages before the change"));
  const LockedFolder locked(folder_, broken.parent_path());
  EXPECT_THAT(read_as_ordinary_user(broken),
              HasSubstr("its last changes are in broken.db-journal"));
}

TEST_F(WalTest, FileThatCannotBeRead_ErrorNamesIt) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs the file of another user";
  const LockedFolder locked(folder_, killed_.parent_path());
  fs::permissions(killed_, fs::perms::owner_read);
  const std::string said = read_as_ordinary_user(killed_);
  EXPECT_THAT(said, HasSubstr("journal " + killed_.string() + ": it cannot be opened"));
  EXPECT_THAT(said, HasSubstr("check the permissions"));
}

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
