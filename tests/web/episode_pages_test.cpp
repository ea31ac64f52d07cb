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

TEST_F(Pages, Stop_EndsAScan) {
  write_turns();
  EpisodePages read = pages();
  read.stop();
  EXPECT_EQ(read.tasks({{"reward", "none"}}, [] { return false; }).error().code, Code::kCancelled);
}

}  // namespace
}  // namespace hone
