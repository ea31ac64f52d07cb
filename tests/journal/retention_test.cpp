// Limits of age and size: old episodes are deleted, open ones are kept.
#include "journal/database.hpp"
#include "journal/journal_fixture.hpp"
#include "journal/writer.hpp"

namespace hone::test {
namespace {

constexpr std::chrono::minutes kAMinute{1};

class RetentionTest : public JournalTest {
 protected:
  void fill(int episodes) {
    auto journal = opened();
    for (int i = 1; i <= episodes; ++i) {
      const auto id = static_cast<std::uint64_t>(i);
      ASSERT_TRUE(add(*journal, episode_record(id)));
      ASSERT_TRUE(add(*journal, turn_record(id, 1, false, "shared by all")));
      ASSERT_TRUE(
          add(*journal, turn_record(id, 2, false, std::string(10000, 'y') + std::to_string(i))));
      if (i % 2 == 0) {
        ASSERT_TRUE(release(*journal, id, RecordState::kClosed));
      }
    }
  }
};

TEST_F(RetentionTest, OpenEpisodes_AreKept) {
  fill(100);
  auto writer = Writer::open(path_, {});
  ASSERT_TRUE(writer);
  int gone = 0;
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE((*writer)->begin());
    gone += (*writer)->retire(1e300, 0, kAMinute)->episodes;
    ASSERT_TRUE((*writer)->commit());
  }
  EXPECT_EQ(gone, 50);
  writer->reset();
  auto journal = opened();
  EXPECT_EQ(journal->reader().held()->size(), 50u);
  EXPECT_EQ(*journal->reader().check(), std::vector<std::string>()) << "uses still add up";
  EXPECT_EQ(*(*journal->reader().episode(1))->turns[0].action, "shared by all");
}

TEST_F(RetentionTest, SizeLimit_DeletesEpisodesAndShrinksTheFile) {
  fill(100);
  auto writer = Writer::open(path_, {});
  ASSERT_TRUE(writer);
  const std::int64_t before = *(*writer)->bytes(), limit = before * 3 / 4;
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE((*writer)->begin());
    ASSERT_TRUE((*writer)->retire(1e300, limit, kAMinute));
    ASSERT_TRUE((*writer)->commit());
    ASSERT_TRUE((*writer)->shrink(kAMinute));
  }
  EXPECT_LE(*(*writer)->bytes(), limit);
  EXPECT_GT(*(*writer)->bytes(), limit / 2) << "no more than needed";
  writer->reset();
  opened();
  EXPECT_LE(static_cast<std::int64_t>(std::filesystem::file_size(path_)), limit + limit / 8);
}

TEST_F(RetentionTest, LongEpisode_IsDeletedTurnByTurnAndHidden) {
  {
    auto journal = opened();
    ASSERT_TRUE(add(*journal, episode_record(1)));
    for (std::int64_t turn = 1; turn <= 3; ++turn) {
      ASSERT_TRUE(add(*journal, call_record(1, turn, 1)));
      ASSERT_TRUE(add(*journal, call_record(1, turn, 2)));
      ASSERT_TRUE(add(*journal, turn_record(1, turn, turn == 3)));
    }
    ASSERT_TRUE(release(*journal, 1, RecordState::kClosed));
  }
  auto writer = Writer::open(path_, {});
  ASSERT_TRUE(writer);
  const auto retire = [&](std::chrono::milliseconds budget) {
    EXPECT_TRUE((*writer)->begin());
    const auto retired = (*writer)->retire(1e300, 0, budget);
    EXPECT_TRUE(retired && (*writer)->commit());
    return *retired;
  };
  const Writer::Retired first = retire(std::chrono::milliseconds(0));
  EXPECT_EQ(first.episodes, 0) << "no time for a single row";
  EXPECT_TRUE(first.some) << "and yet there is more to do";
  {
    const auto reader = JournalReader::open(path_);
    EXPECT_FALSE(*(*reader)->episode(1));
    EXPECT_TRUE((*reader)->list({})->empty());
    EXPECT_EQ(*(*reader)->check(), std::vector<std::string>());
  }
  const Writer::Retired second = retire(kAMinute);
  EXPECT_EQ(second.episodes, 1);
  EXPECT_FALSE(retire(kAMinute).some);
  EXPECT_EQ(*(*Database::open(path_, Database::Mode::kRead))->number("SELECT count(*) FROM blobs"),
            0);
  EXPECT_EQ(*(*JournalReader::open(path_))->check(), std::vector<std::string>());
}

TEST_F(RetentionTest, AgeLimit_DeletesOldEpisodes) {
  fill(10);
  auto writer = Writer::open(path_, {});
  ASSERT_TRUE(writer);
  EXPECT_FALSE((*writer)->retire(0, 0, kAMinute)->some) << "nothing is older than 1970";
}

}  // namespace
}  // namespace hone::test
