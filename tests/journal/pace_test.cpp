// How many rows retention deletes at a time.
#include "journal/pace.hpp"

#include <gtest/gtest.h>

namespace hone {
namespace {

using std::chrono::microseconds;

TEST(Pace, FastDisk_KeepsTheMaximum) {
  Pace pace;
  for (int i = 0; i < 100; ++i) pace.took(microseconds(6000));
  EXPECT_EQ(pace.budget(), Pace::kMost);
}

TEST(Pace, SlowTransaction_HalvesTheNext) {
  Pace pace;
  pace.took(Pace::kGoal + microseconds(1));
  EXPECT_EQ(pace.budget(), Pace::kMost / 2);
  pace.took(Pace::kGoal + microseconds(1));
  EXPECT_EQ(pace.budget(), Pace::kMost / 4);
}

TEST(Pace, VerySlowDisk_StillMakesProgress) {
  Pace pace;
  for (int i = 0; i < 100; ++i) pace.took(microseconds(1'000'000));
  EXPECT_EQ(pace.budget(), Pace::kLeast);
}

TEST(Pace, FastDisk_RaisesItAgain) {
  Pace pace;
  for (int i = 0; i < 100; ++i) pace.took(microseconds(1'000'000));
  for (int i = 0; i < 100; ++i) pace.took(microseconds(1000));
  EXPECT_EQ(pace.budget(), Pace::kMost);
}

/// A disk that takes eight times as long as the work: it settles below the goal.
TEST(Pace, ConstantDisk_SettlesAtTheGoal) {
  Pace pace;
  for (int i = 0; i < 50; ++i) pace.took(pace.budget() * 8);
  for (int i = 0; i < 50; ++i) {
    EXPECT_LE(pace.budget() * 8, Pace::kGoal + Pace::kGoal / 8);
    EXPECT_GE(pace.budget() * 8, Pace::kGoal / 2);
    pace.took(pace.budget() * 8);
  }
}

}  // namespace
}  // namespace hone
