// Means over time of a journal that grows, shrinks and is read in parts.
#include "web/followed_course.hpp"

#include <set>

#include "journal/journal_fixture.hpp"
#include "web/episode_pages.hpp"

namespace hone {
namespace {

std::int64_t attempts_of(const Value& course) {
  std::int64_t sum = 0;
  for (const Value& one : course.find("intervals")->as_array())
    sum += one.find("attempts")->as_int();
  return sum;
}

class Followed : public test::JournalTest {
 protected:
  /// For requests whose client does not leave.
  static bool stays() { return false; }
  static void add_episode(Journal& journal, std::uint64_t id, std::int64_t turns,
                          const std::string& task = "tasks/add_relu") {
    EpisodeRecord record = test::episode_record(id);
    record.task = task;
    ASSERT_TRUE(add(journal, record));
    for (std::int64_t turn = 1; turn <= turns; ++turn)
      journal.add(test::turn_record(id, turn), [](const Status& done) { EXPECT_TRUE(done); });
    ASSERT_TRUE(sync(journal));
  }
  EpisodePages pages() const {
    return EpisodePages(path_.string(),
                        [](const StoredEpisode&) -> Result<Value> { return Value::map(); });
  }
  std::int64_t attempts(FollowedCourse& course) const {
    const auto reader = JournalReader::open(path_);
    EXPECT_TRUE(reader);
    EXPECT_TRUE(course.read_on(**reader));
    return attempts_of(course.value());
  }
};

TEST_F(Followed, LaterTurns_AreAddedToThoseBefore) {
  FollowedCourse course("");
  auto journal = opened();
  add_episode(*journal, 1, 2);
  EXPECT_EQ(attempts(course), 2);
  EXPECT_EQ(attempts(course), 2) << "nothing was written meanwhile";
  add_episode(*journal, 2, 3);
  EXPECT_EQ(attempts(course), 5);
  ASSERT_TRUE(release(*journal, 1, RecordState::kClosed));
  journal.reset();
  retire_one();
  EXPECT_EQ(attempts(course), 5) << "turns are read once, and not again after others were deleted";
}

TEST_F(Followed, ReusedRowNumbers_JournalIsReadFromTheStart) {
  FollowedCourse course("");
  auto journal = opened();
  add_episode(*journal, 1, 2);
  add_episode(*journal, 2, 2);
  EXPECT_EQ(attempts(course), 4);
  ASSERT_TRUE(release(*journal, 2, RecordState::kClosed));
  journal.reset();
  retire_one();  // the last rows, so the next ones get their numbers
  journal = opened();
  add_episode(*journal, 3, 3);
  EXPECT_EQ(attempts(course), 5);
}

TEST_F(Followed, CancelledRead_NextRead_ContinuesWhereItStopped) {
  constexpr std::int64_t kTurns = 400;
  auto journal = opened();
  add_episode(*journal, 1, kTurns);
  FollowedCourse course("");
  std::set<std::int64_t> seen;
  int cancelled = 0;
  for (bool done = false; !done && cancelled < kTurns;) {
    const auto reader = JournalReader::open(path_);
    ASSERT_TRUE(reader);
    int asked = 0;
    (*reader)->stop_when([&asked] { return ++asked > 2; });
    const Status read = course.read_on(**reader);
    seen.insert(attempts_of(course.value()));
    done = read.ok();
    if (done) break;
    ASSERT_EQ(read.error().code, Code::kCancelled);
    ++cancelled;
  }
  EXPECT_GT(cancelled, 1);
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(cancelled) + 1) << "each read got further";
  EXPECT_EQ(attempts_of(course.value()), kTurns);
}

TEST_F(Followed, Interval_HasTheMeansOfScoredTurnsOnly) {
  auto journal = opened();
  ASSERT_TRUE(add(*journal, test::episode_record(1)));
  struct Played {
    const char* outcome;
    bool scored;
    double speedup, reward;
  };
  std::int64_t number = 0;
  for (const Played& one : {Played{"correct", true, 4, 1}, Played{"correct", true, 1, 0.5},
                            Played{"wrong", true, 9, 0}, Played{"", false, 100, 100}}) {
    TurnRecord turn = test::turn_record(1, ++number);
    turn.outcome = one.outcome;
    turn.scored = one.scored;
    turn.speedup = one.speedup;
    turn.reward = one.reward;
    turn.at = 5000;
    ASSERT_TRUE(add(*journal, turn));
  }
  const EpisodePages read = pages();
  const auto found = read.over_time({}, stays);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->find("intervals")->as_array().size(), 1u);
  const Value& interval = found->find("intervals")->as_array()[0];
  EXPECT_EQ(interval.find("from")->as_int(), 5000);
  EXPECT_EQ(interval.find("attempts")->as_int(), 3);
  EXPECT_DOUBLE_EQ(interval.find("speedup_mean")->as_double(), 2) << "the geometric mean";
  EXPECT_DOUBLE_EQ(interval.find("reward_mean")->as_double(), 0.5);
  EXPECT_EQ(found->find("unscored")->as_int(), 1);
}

TEST_F(Followed, MoreTasksThanAreKept_EachHasItsOwnMeans) {
  auto journal = opened();
  constexpr std::int64_t kTasks = 3 * static_cast<std::int64_t>(FigureCache::kKeptMax);
  const auto task = [](std::int64_t number) { return "tasks/" + std::to_string(number); };
  for (std::int64_t i = 1; i <= kTasks; ++i)
    add_episode(*journal, static_cast<std::uint64_t>(i), i, task(i));
  const EpisodePages read = pages();
  for (std::int64_t i = 1; i <= kTasks; ++i) {
    const auto found = read.over_time({{"task", task(i)}}, stays);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(attempts_of(*found), i);
    EXPECT_EQ(found->find("task")->as_string(), task(i));
  }
  EXPECT_EQ(attempts_of(*read.over_time({}, stays)), kTasks * (kTasks + 1) / 2);
  EXPECT_EQ(attempts_of(*read.over_time({{"task", "none"}}, stays)), 0);
  const Value names = *read.names(stays);
  EXPECT_EQ(names.find("tasks")->as_array().size(), static_cast<std::size_t>(kTasks));
}

}  // namespace
}  // namespace hone
