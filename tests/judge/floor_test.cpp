// What a round that does nothing takes: the middle, the least, and how far rounds are told apart.
#include <gtest/gtest.h>

#include "judge/session.hpp"

namespace hone {
namespace {

TEST(Floor, IsTheMiddleOneAndTheLeast) {
  const Floor floor = floor_of({7, 5, 6});
  EXPECT_EQ(floor.seconds, 6);
  EXPECT_EQ(floor.least, 5);
}

TEST(Floor, RoundsThatAreAllAlikeAreToldApartExactly) {
  EXPECT_EQ(floor_of(std::vector<double>(9, 3e-5)).spread, 0);
}

TEST(Floor, TheMiddleHalfSaysHowFarRoundsAreToldApart) {
  EXPECT_EQ(floor_of({1, 2, 3, 4, 5, 6, 7, 8, 9}).spread, 2 * (7 - 3));
  // A spike or two say nothing of the others.
  EXPECT_EQ(floor_of({5, 5, 5, 5, 5, 5, 5, 5000, 9000}).spread, 0);
}

}  // namespace
}  // namespace hone
