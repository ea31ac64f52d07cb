// Which lane prepares a task, and which leaves it to others.
#include "evaluate/task_homes.hpp"

#include <gtest/gtest.h>

namespace hone {
namespace {

TaskHomes homes_of(int lanes) {
  TaskHomes homes;
  for (int i = 0; i < lanes; ++i) homes.add_lane();
  return homes;
}

/// Three lanes. "known" takes 2 s to prepare and 1 s to evaluate; lane 0 has it ready.
TaskHomes homes_with_times() {
  TaskHomes homes = homes_of(3);
  homes.add_preparation("known", 2);
  homes.add_evaluation("known", 1);
  homes.set_ready(0, {"known"});
  return homes;
}

TEST(TaskHomes, TaskThatIsReadyHere_ComesBeforeANewOne) {
  const TaskHomes homes = homes_with_times();
  EXPECT_LT(homes.rank(0, "known", 0), homes.rank(0, "new", 0));
  EXPECT_GE(homes.rank(0, "known", 0), 0);
}

TEST(TaskHomes, NewTask_ComesBeforeOneThatNeedsHelp) {
  TaskHomes homes = homes_with_times();
  for (int i = 0; i < 10; ++i) homes.add_waiting("known");
  EXPECT_LT(homes.rank(1, "new", 0), homes.rank(1, "known", 0));
  EXPECT_GE(homes.rank(1, "new", 0), 0);
}

TEST(TaskHomes, LaneHelpsAtOnce_OnlyIfTheWaitIsLongerThanThePreparation) {
  TaskHomes homes = homes_with_times();
  homes.add_waiting("known");
  homes.add_waiting("known");
  EXPECT_LT(homes.rank(1, "known", 0), 0);  // 2 s of waiting, 2 s to prepare
  homes.add_waiting("known");
  EXPECT_GE(homes.rank(1, "known", 0), 0);  // 3 s of waiting
  homes.begin(1, "known");
  EXPECT_LT(homes.rank(2, "known", 0), 0);  // two lanes have the task, so each needs half the time
  homes.end(1);
  homes.add_waiting("known");
  EXPECT_GE(homes.rank(2, "known", 0), 0);
  homes.remove_waiting("known");
  EXPECT_LT(homes.rank(2, "known", 0), 0);
}

TEST(TaskHomes, LaneThatEvaluatesATask_IsItsHome) {
  TaskHomes homes = homes_with_times();
  homes.add_waiting("new");
  homes.begin(1, "new");
  homes.add_waiting("new");
  EXPECT_LT(homes.rank(2, "new", 0), 0);
  homes.end(1);  // and did not keep it ready
  EXPECT_GE(homes.rank(2, "new", 0), 0);
}

TEST(TaskHomes, LaneThatDropsATask_IsNoHomeAnyMore) {
  TaskHomes homes = homes_with_times();
  homes.begin(0, "known");
  homes.set_ready(0, {"other"});
  EXPECT_LT(homes.rank(1, "known", 0), 0) << "lane 0 still evaluates it";
  homes.end(0);
  EXPECT_GE(homes.rank(1, "known", 0), 0);
}

TEST(TaskHomes, IdleLane_HelpsAfterTheTimeOfAPreparation) {
  TaskHomes homes = homes_with_times();
  homes.add_waiting("known");
  EXPECT_LT(homes.rank(1, "known", 1.9), 0);
  EXPECT_GE(homes.rank(1, "known", 2.0), 0);
}

/// A submission cannot make other lanes wait, however long the task's preparation has taken.
TEST(TaskHomes, IdleLane_HelpsAfterFiveSecondsAtMost) {
  TaskHomes homes = homes_of(2);
  homes.add_preparation("slow", 300);
  homes.add_evaluation("slow", 1);
  homes.set_ready(0, {"slow"});
  homes.add_waiting("slow");
  EXPECT_LT(homes.rank(1, "slow", 4.9), 0);
  EXPECT_GE(homes.rank(1, "slow", 5.0), 0);
}

TEST(TaskHomes, WithoutTimes_AllLanesHelp) {
  TaskHomes homes = homes_of(2);
  homes.add_waiting("new");
  homes.begin(0, "new");
  homes.add_waiting("new");
  EXPECT_GE(homes.rank(1, "new", 0), 0);
}

TEST(TaskHomes, TaskWithoutTimes_UsesTheMeanOfAllTasks) {
  TaskHomes homes = homes_with_times();
  homes.set_ready(0, {"known", "other"});
  homes.add_waiting("other");
  EXPECT_LT(homes.rank(1, "other", 0), 0);
}

TEST(TaskHomes, TaskThatIsCheapToPrepare_IsHelpedAtOnce) {
  TaskHomes homes = homes_of(2);
  homes.add_preparation("native", 0.1);
  homes.add_evaluation("native", 1.0);
  homes.set_ready(0, {"native"});
  homes.add_waiting("native");
  EXPECT_GE(homes.rank(1, "native", 0), 0);
}

/// The first preparation measures the reference's error and the baseline's times. Later ones get the stored results.
TEST(TaskHomes, ExpectedPreparation_LeavesOutTheFirstOfEachTask) {
  TaskHomes homes = homes_with_times();
  homes.add_waiting("known");
  homes.add_waiting("known");
  EXPECT_LT(homes.rank(1, "known", 0), 0);
  homes.add_preparation("known", 0.5);
  EXPECT_GE(homes.rank(1, "known", 0), 0);
  homes.add_preparation("other", 2);
  homes.add_preparation("large", 60);
  homes.add_evaluation("other", 1);
  homes.add_evaluation("large", 3);
  homes.set_ready(0, {"known", "other", "large"});
  homes.add_waiting("other");
  homes.add_waiting("large");
  EXPECT_LT(homes.rank(1, "large", 0), 0) << "a large task is large for every lane";
  EXPECT_GE(homes.rank(1, "other", 0), 0) << "only another task has had a further preparation";
}

TEST(TaskHomes, SubmissionWithoutATask_IsTakenByAnyLane) {
  TaskHomes homes = homes_with_times();
  homes.add_waiting("");
  homes.begin(0, "");
  homes.add_waiting("");
  EXPECT_EQ(homes.rank(1, "", 0), homes.rank(0, "known", 0));
}

}  // namespace
}  // namespace hone
