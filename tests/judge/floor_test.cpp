// What a round that does nothing takes: the middle, the least, and how far rounds are told apart; and what rounds of one
// call say then.
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

const std::vector<double> kNothing{220e-6, 222e-6, 221e-6, 228e-6};

TEST(Singles, SayHowOftenFasterACallIs) {
  EXPECT_NEAR(ratio_of_singles({420e-6, 421e-6, 420e-6}, {320e-6, 330e-6, 325e-6}, kNothing), 2,
              1e-9);
}

TEST(Singles, ACallThatIsNotToldFromNothingIsNoReasonToDoubt) {
  const std::vector<double> baseline{222e-6, 230e-6, 221e-6};
  EXPECT_NEAR(ratio_of_singles(baseline, {219e-6, 232e-6, 229e-6}, kNothing), 1, 1e-9);
  EXPECT_NEAR(ratio_of_singles({219e-6, 240e-6}, {219e-6}, kNothing), 1, 1e-9);
}

TEST(Singles, WhoDoesAWholeRoundInItsFirstCallIsSlow) {
  EXPECT_LT(ratio_of_singles({230e-6, 231e-6, 232e-6}, {500e-6, 520e-6, 510e-6}, kNothing), 0.1);
}

}  // namespace
}  // namespace hone
