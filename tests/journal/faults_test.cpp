// The journal on a disk that fails at one operation after another. Some operations are tried; with HONE_SWEEP set,
// all.
#include <gmock/gmock.h>

#include <cstdlib>

#include "journal/faulty_disk.hpp"
#include "journal/journal_fixture.hpp"

namespace hone::test {
namespace {

using Fault = FaultyDisk::Fault;
using testing::HasSubstr;

/// Fifty episodes of two turns; every third is closed. Says what was answered "done".
struct Acknowledged {
  std::vector<std::uint64_t> episodes;
  std::vector<std::pair<std::uint64_t, std::int64_t>> turns;
};

class FaultsTest : public JournalTest {
 protected:
  Acknowledged work(Journal& journal) {
    Acknowledged told;
    for (std::uint64_t id = 1; id <= 50; ++id) {
      if (add(journal, episode_record(id))) told.episodes.push_back(id);
      for (std::int64_t turn = 1; turn <= 2; ++turn) {
        if (add(journal, turn_record(id, turn, turn == 2))) told.turns.emplace_back(id, turn);
      }
      if (id % 3 == 0) static_cast<void>(release(journal, id, RecordState::kClosed));
    }
    return told;
  }

  JournalOptions faulty() const {
    JournalOptions options;
    options.vfs = disk_.vfs();
    return options;
  }

  /// The invariants: what was told is there, and the journal is sound. What is not so; "" when all
  /// is.
  std::string violation(const Acknowledged& told) {
    auto journal = open();
    if (!journal) return journal.error().message;
    const auto wrong = (*journal)->reader().check();
    if (!wrong) return wrong.error().message;
    if (!wrong->empty()) return wrong->front();
    for (const std::uint64_t id : told.episodes) {
      const auto read = (*journal)->reader().episode(id);
      if (!read || !*read) return "episode " + std::to_string(id) + " is lost";
    }
    for (const auto& [id, turn] : told.turns) {
      const auto read = (*journal)->reader().episode(id);
      if (!read || !*read || (*read)->turns.size() < static_cast<std::size_t>(turn)) {
        return "turn " + std::to_string(turn) + " of episode " + std::to_string(id) + " is lost";
      }
    }
    return "";
  }

  void start_again() {
    std::error_code ignored;
    for (const auto& file : std::filesystem::directory_iterator(folder_)) {
      std::filesystem::remove(file.path(), ignored);
    }
  }

  FaultyDisk disk_;
};

// Of how many operations one is tried: on some machines each takes a tenth of a second, and with a sanitizer more.
#ifdef HONE_SANITIZED
constexpr std::int64_t kEach = 40;
#else
constexpr std::int64_t kEach = 6;
#endif

/// From 1 to kEach * 2 - 1, so that what is tried is no place in a rhythm.
std::int64_t steps_after(std::int64_t k) {
  if (std::getenv("HONE_SWEEP") != nullptr) return 1;
  return 1 + k * 7919 % (2 * kEach - 1);
}

TEST_F(FaultsTest, PowerLoss_KeepsEveryAcknowledgedStep) {
  disk_.fail_at(0, Fault::kNone);
  work(*opened(faulty()));
  const std::int64_t all = disk_.operations();
  ASSERT_GT(all, 300);
  std::int64_t points = 0;
  for (const Fault fault : {Fault::kPowerLoss, Fault::kTornWrite}) {
    for (std::int64_t k = 1; k <= all; k += steps_after(k) * (fault == Fault::kPowerLoss ? 1 : 7)) {
      start_again();
      disk_.mend();
      disk_.fail_at(k, fault);
      Acknowledged told;
      if (auto journal = open(faulty())) told = work(**journal);
      disk_.restore();
      disk_.mend();
      ASSERT_EQ(violation(told), "") << "operation " << k;
      ++points;
    }
  }
  RecordProperty("points", static_cast<int>(points));
}

TEST_F(FaultsTest, DiskThatIgnoresSyncs_IsDetectedByTheSweep) {
  disk_.fail_at(600, Fault::kLyingSync);
  const Acknowledged told = work(*opened(faulty()));
  ASSERT_EQ(told.turns.size(), 100u);
  ASSERT_GT(disk_.operations(), 600);
  disk_.restore();
  disk_.mend();
  EXPECT_THAT(violation(told), HasSubstr("is lost"));
}

TEST_F(FaultsTest, Acknowledgement_ComesAfterTheSync) {
  auto journal = opened(faulty());
  ASSERT_TRUE(add(*journal, episode_record(1)));
  disk_.fail_at(1, Fault::kPowerLoss);
  EXPECT_FALSE(add(*journal, episode_record(2))) << "nothing is told that was not synced";
  journal.reset();
  disk_.restore();
  disk_.mend();
  journal = opened();
  EXPECT_TRUE(*journal->reader().episode(1));
  EXPECT_FALSE(*journal->reader().episode(2));
}

TEST_F(FaultsTest, FullDisk_IsReportedAndWritingResumes) {
  auto journal = opened(faulty());
  ASSERT_TRUE(add(*journal, episode_record(1)));
  disk_.fail_at(1, Fault::kFull);
  const Status full = add(*journal, turn_record(1, 1, false, std::string(100000, 'x')));
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, Code::kResourceExhausted);
  EXPECT_THAT(full.error().message, HasSubstr("the disk is full"));
  disk_.mend();
  EXPECT_TRUE(add(*journal, turn_record(1, 1))) << "once there is room it goes on";
  journal.reset();
  EXPECT_EQ((*opened()->reader().episode(1))->turns.size(), 1u);
}

TEST_F(FaultsTest, AFullDisk_IsAProblemUntilAWriteSucceeds) {
  auto journal = opened(faulty());
  // Asked where it is told, on the writer's thread: the next upkeep may change it.
  const auto problem_after = [&](TurnRecord turn) {
    std::promise<std::string> problem;
    journal->add(std::move(turn), [&](const Status&) { problem.set_value(journal->problem()); });
    return problem.get_future().get();
  };
  ASSERT_TRUE(add(*journal, episode_record(1)));
  EXPECT_EQ(journal->problem(), "");
  disk_.fail_at(1, Fault::kFull);
  EXPECT_THAT(problem_after(turn_record(1, 1, false, std::string(100000, 'x'))),
              HasSubstr("the disk is full"));
  disk_.mend();
  EXPECT_EQ(problem_after(turn_record(1, 1)), "");
}

TEST_F(FaultsTest, AFullDisk_IsNoProblemOnceThereIsRoomAgain) {
  auto journal = opened(faulty());
  ASSERT_TRUE(add(*journal, episode_record(1)));
  disk_.fail_at(1, Fault::kFull);
  ASSERT_FALSE(add(*journal, turn_record(1, 1, false, std::string(100000, 'x'))));
  disk_.mend();
  // Nothing is added any more; upkeep tries by itself.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!journal->problem().empty() && std::chrono::steady_clock::now() < end)
    std::this_thread::yield();
  EXPECT_EQ(journal->problem(), "");
}

TEST_F(FaultsTest, FailedSync_NothingMoreIsAcknowledged) {
  // Which operation of one addition is its sync is SQLite's business: one of them is.
  int refused_later = 0;
  for (std::int64_t k = 1; k <= 40; ++k) {
    start_again();
    disk_.mend();
    auto journal = opened(faulty());
    ASSERT_TRUE(add(*journal, episode_record(1)));
    disk_.fail_at(k, Fault::kIoError);
    const Status first = add(*journal, turn_record(1, 1));
    const std::int64_t next = first ? 2 : 1;  // what was not told is tried again
    const Status second = add(*journal, turn_record(1, next));
    Acknowledged told{{1}, {}};
    if (first) told.turns.emplace_back(1, 1);
    if (second) told.turns.emplace_back(1, next);
    if (!second && second.error().message.find("restart") != std::string::npos) ++refused_later;
    journal.reset();
    disk_.mend();
    ASSERT_EQ(violation(told), "") << "operation " << k;
  }
  EXPECT_GE(refused_later, 1);
}

}  // namespace
}  // namespace hone::test
