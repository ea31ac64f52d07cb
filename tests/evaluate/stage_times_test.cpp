// Times in a verdict: stages, waits within them, and attempts.
#include "evaluate/stage_times.hpp"

#include <gtest/gtest.h>

#include "base/clock.hpp"

namespace hone {
namespace {

constexpr double kNear = 50;  // ms, that a busy machine may be late

std::map<std::string, double> filled(const StageTimes& times) {
  Verdict verdict;
  times.fill(verdict);
  return verdict.stage_ms;
}

TEST(StageTimes, EachStage_EndsWhereTheNextBegins) {
  const double end = monotonic_s();
  StageTimes times;
  times.submitted_s = end - 10, times.building_s = end - 9, times.built_s = end - 7;
  times.taken_s = end - 6;
  times.begun_s = {{JudgeStage::kPrepare, end - 6},
                   {JudgeStage::kLoad, end - 5},
                   {JudgeStage::kCheck, end - 4.5},
                   {JudgeStage::kMeasure, end - 3}};
  const auto ms = filled(times);
  EXPECT_NEAR(ms.at("queue"), 2000, kNear);
  EXPECT_NEAR(ms.at("build"), 2000, kNear);
  EXPECT_NEAR(ms.at("prepare"), 1000, kNear);
  EXPECT_NEAR(ms.at("load"), 500, kNear);
  EXPECT_NEAR(ms.at("check"), 1500, kNear);
  EXPECT_NEAR(ms.at("measure"), 3000, kNear);
  EXPECT_EQ(ms.at("wait"), 0);
  EXPECT_EQ(ms.count("attempts") + ms.count("second_look"), 0u);
  EXPECT_NEAR(ms.at("total"), 10000, kNear);
}

TEST(StageTimes, WaitsWithinAStage_AreNotPartOfIt) {
  const double end = monotonic_s();
  StageTimes times;
  times.submitted_s = times.building_s = times.built_s = times.taken_s = end - 6;
  times.begun_s = {{JudgeStage::kPrepare, end - 6},
                   {JudgeStage::kCheck, end - 4},
                   {JudgeStage::kMeasure, end - 3}};
  times.waits_s = {{end - 6, end - 5}, {end - 3.5, end - 1}};  // the second one in two stages
  const auto ms = filled(times);
  EXPECT_NEAR(ms.at("prepare"), 1000, kNear);
  EXPECT_NEAR(ms.at("check"), 500, kNear);
  EXPECT_NEAR(ms.at("measure"), 1000, kNear);
  EXPECT_NEAR(ms.at("wait"), 3500, kNear);
}

TEST(StageTimes, EarlierAttempts_AreSeparate) {
  const double end = monotonic_s();
  StageTimes times;
  times.submitted_s = times.building_s = times.built_s = end - 6;
  times.taken_s = end - 6;
  times.begun_s = {{JudgeStage::kPrepare, end - 2}, {JudgeStage::kCheck, end - 1}};
  times.waits_s = {{end - 5, end - 4}, {end - 2, end - 1.5}};
  const auto ms = filled(times);
  EXPECT_NEAR(ms.at("attempts"), 4000, kNear);
  EXPECT_NEAR(ms.at("prepare"), 500, kNear);
  EXPECT_NEAR(ms.at("check"), 1000, kNear);
  EXPECT_EQ(ms.at("measure"), 0);
  EXPECT_NEAR(ms.at("wait"), 500, kNear);
}

TEST(StageTimes, FailedBuild_HasOnlyTheBuildStage) {
  const double end = monotonic_s();
  StageTimes times;
  times.submitted_s = end - 2, times.building_s = end - 1, times.built_s = end;
  const auto ms = filled(times);
  EXPECT_NEAR(ms.at("queue"), 1000, kNear);
  EXPECT_NEAR(ms.at("build"), 1000, kNear);
  EXPECT_EQ(ms.at("prepare") + ms.at("load") + ms.at("check") + ms.at("measure"), 0);
}

}  // namespace
}  // namespace hone
