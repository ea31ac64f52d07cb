// Stored times of baselines.
#include "evaluate/calibrations.hpp"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(Calibrations, LastFinding_IsKept) {
  Recent<int> known;
  EXPECT_EQ(known.find("a"), std::nullopt);
  known.keep("a", 1);
  known.keep("b", 2);
  known.keep("a", 3);
  EXPECT_EQ(known.find("a"), 3);
  EXPECT_EQ(known.find("b"), 2);
}

class UncontendedTimesOfATask : public testing::Test {
 protected:
  void keep(double seconds, bool held, std::size_t calls = 4) {
    times_.keep("t", {calls, seconds, 1e-4, held});
  }
  double known() const {
    const auto uncontended = times_.find("t");
    return uncontended ? uncontended->seconds : 0;
  }
  UncontendedTimes times_;
};

TEST_F(UncontendedTimesOfATask, LimitedTime_CannotRaiseTheKnownOne) {
  keep(4e-3, false);
  keep(4.1e-3, true);
  EXPECT_EQ(known(), 4e-3);
  keep(3.9e-3, true);
  EXPECT_EQ(known(), 3.9e-3);
  keep(4.2e-3, false);
  EXPECT_EQ(known(), 4.2e-3);
}

TEST_F(UncontendedTimesOfATask, LimitedTime_NeedsAKnownTimeOfTheSameRoundSize) {
  keep(4e-3, true);
  EXPECT_EQ(known(), 0);
  keep(4e-3, false, 4);
  keep(3e-3, true, 3);  // rounds have another number of calls since
  EXPECT_EQ(known(), 4e-3);
}

}  // namespace
}  // namespace hone
