// Growth has bounds: old and too many episodes go, what is held stays.
#include "journal/journal_fixture.hpp"
#include "journal/writer.hpp"

namespace hone::test {
namespace {

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

TEST_F(RetentionTest, WhatIsHeldStays) {
  fill(100);
  auto writer = Writer::open(path_, {});
  ASSERT_TRUE(writer);
  int gone = 0;
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE((*writer)->begin());
    gone += *(*writer)->retire(1e300, 0);
    ASSERT_TRUE((*writer)->commit());
  }
  EXPECT_EQ(gone, 50);
  writer->reset();
  auto journal = opened();
  EXPECT_EQ(journal->reader().held()->size(), 50u);
  EXPECT_EQ(*journal->reader().check(), std::vector<std::string>()) << "uses still add up";
  EXPECT_EQ(*(*journal->reader().episode(1))->turns[0].action, "shared by all");
}

TEST_F(RetentionTest, SizeIsALimitAndTheFileShrinks) {
  fill(100);
  auto writer = Writer::open(path_, {});
  ASSERT_TRUE(writer);
  const std::int64_t before = *(*writer)->bytes(), limit = before * 3 / 4;
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE((*writer)->begin());
    ASSERT_TRUE((*writer)->retire(1e300, limit));
    ASSERT_TRUE((*writer)->commit());
    ASSERT_TRUE((*writer)->shrink());
  }
  EXPECT_LE(*(*writer)->bytes(), limit);
  EXPECT_GT(*(*writer)->bytes(), limit / 2) << "no more than needed";
  writer->reset();
  opened();
  EXPECT_LE(static_cast<std::int64_t>(std::filesystem::file_size(path_)), limit + limit / 8);
}

TEST_F(RetentionTest, AgeIsALimit) {
  fill(10);
  auto writer = Writer::open(path_, {});
  ASSERT_TRUE(writer);
  EXPECT_EQ(*(*writer)->retire(0, 0), 0) << "nothing is older than 1970";
}

}  // namespace
}  // namespace hone::test
