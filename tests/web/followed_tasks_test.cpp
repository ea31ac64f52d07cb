// Figures of tasks of a journal that grows and shrinks are those of a new read of all turns.
#include "web/followed_tasks.hpp"

#include "journal/journal_fixture.hpp"

namespace hone {
namespace {

class FollowedTasksTest : public test::JournalTest {
 protected:
  static void add_episode(Journal& journal, std::uint64_t id, std::int64_t turns,
                          const std::string& task) {
    EpisodeRecord record = test::episode_record(id);
    record.task = task;
    ASSERT_TRUE(add(journal, record));
    for (std::int64_t turn = 1; turn <= turns; ++turn) {
      TurnRecord played = test::turn_record(id, turn, turn == turns);
      played.speedup = static_cast<double>(id) + static_cast<double>(turn) / 100;
      played.reply = std::make_shared<const std::string>(
          to_msgpack(Value::map({{"returns", Value::array({static_cast<double>(id)})}})));
      ASSERT_TRUE(add(journal, played));
    }
  }
  Value figures(FollowedTasks& tasks) const {
    const auto reader = JournalReader::open(path_);
    EXPECT_TRUE(reader);
    EXPECT_TRUE(tasks.read_on(**reader));
    return tasks.figures().value(*(*reader)->tasks());
  }
  Value figures_of_all_turns() const {
    FollowedTasks anew;
    return figures(anew);
  }
};

TEST_F(FollowedTasksTest, LaterTurns_AreAddedToThoseBefore) {
  FollowedTasks tasks;
  auto journal = opened();
  add_episode(*journal, 1, 2, "tasks/add_relu");
  EXPECT_EQ(figures(tasks).find("all")->find("attempts")->as_int(), 2);
  EXPECT_EQ(figures(tasks), figures_of_all_turns()) << "nothing was written meanwhile";
  add_episode(*journal, 2, 3, "tasks/softmax");
  add_episode(*journal, 3, 1, "tasks/add_relu");
  const Value found = figures(tasks);
  EXPECT_EQ(found.find("all")->find("attempts")->as_int(), 6);
  EXPECT_EQ(found.find("all")->find("returns")->as_int(), 3) << "those of ended episodes";
  EXPECT_DOUBLE_EQ(found.find("all")->find("return_mean")->as_double(), 2);
  EXPECT_EQ(found, figures_of_all_turns());
}

TEST_F(FollowedTasksTest, DeletedTurns_DoNotCountAnyMore) {
  FollowedTasks tasks;
  auto journal = opened();
  add_episode(*journal, 1, 2, "tasks/add_relu");
  add_episode(*journal, 2, 3, "tasks/softmax");
  EXPECT_EQ(figures(tasks).find("all")->find("attempts")->as_int(), 5);
  ASSERT_TRUE(release(*journal, 1, RecordState::kClosed));
  journal.reset();
  retire_one();
  const Value found = figures(tasks);
  EXPECT_EQ(found.find("all")->find("attempts")->as_int(), 3);
  EXPECT_EQ(found, figures_of_all_turns());
}

TEST_F(FollowedTasksTest, ReusedRowNumbers_JournalIsReadFromTheStart) {
  FollowedTasks tasks;
  auto journal = opened();
  add_episode(*journal, 1, 2, "tasks/add_relu");
  add_episode(*journal, 2, 2, "tasks/add_relu");
  EXPECT_EQ(figures(tasks).find("all")->find("attempts")->as_int(), 4);
  ASSERT_TRUE(release(*journal, 2, RecordState::kClosed));
  journal.reset();
  retire_one();  // the last rows, so the next ones get their numbers
  journal = opened();
  add_episode(*journal, 3, 3, "tasks/add_relu");
  EXPECT_EQ(figures(tasks), figures_of_all_turns());
}

}  // namespace
}  // namespace hone
