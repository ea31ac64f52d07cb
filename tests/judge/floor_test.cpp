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
  const Singles singles =
      compare_singles({420e-6, 421e-6, 420e-6}, {320e-6, 330e-6, 325e-6}, kNothing);
  EXPECT_NEAR(singles.ratio, 2, 1e-9);
  EXPECT_TRUE(singles.told_apart);
}

TEST(Singles, OneRoundThatIsLateSaysNothing) {
  EXPECT_NEAR(compare_singles({420e-6, 421e-6, 800e-6}, {320e-6, 900e-6, 325e-6}, kNothing).ratio,
              2, 1e-9);
}

TEST(Singles, ACallThatIsNotToldFromNothingIsNoReasonToDoubt) {
  const Singles singles =
      compare_singles({221e-6, 230e-6, 222e-6}, {219e-6, 232e-6, 229e-6}, kNothing);
  EXPECT_NEAR(singles.ratio, 1, 1e-9);
  EXPECT_FALSE(singles.told_apart);
  EXPECT_NEAR(compare_singles({219e-6, 240e-6}, {219e-6}, kNothing).ratio, 1, 1e-9);
  EXPECT_NEAR(compare_singles({219e-6}, {219e-6}, {219e-6}).ratio, 1, 1e-9);
}

TEST(Singles, WhoDoesAWholeRoundInItsFirstCallIsSlow) {
  const Singles singles =
      compare_singles({230e-6, 231e-6, 232e-6}, {500e-6, 520e-6, 510e-6}, kNothing);
  EXPECT_LT(singles.ratio, 0.1);
  EXPECT_TRUE(singles.told_apart);
}

constexpr Floor kQuiet{50e-6, 50e-6, 1e-6};

TEST(SingleSpeedup, EqualKernels_HaveRatioOne) {
  const SingleSpeedup one =
      single_speedup({1050e-6, 2050e-6}, {1050e-6, 2050e-6}, {0, 1}, kQuiet, kQuiet);
  EXPECT_NEAR(one.ratio, 1, 1e-9);
  EXPECT_GT(one.high, 1);
  EXPECT_LT(one.high, 1.05);
}

TEST(SingleSpeedup, DelayedRoundOfAFamily_IsMadeGoodByABetterOne) {
  const SingleSpeedup one = single_speedup({1050e-6, 1050e-6, 2050e-6}, {550e-6, 9050e-6, 1050e-6},
                                           {0, 0, 1}, kQuiet, kQuiet);
  EXPECT_NEAR(one.ratio, 2, 1e-9);
}

TEST(SingleSpeedup, SlowRoundsOfItsOwn_DoNotRaiseIt) {
  // It pays 2 ms in the first call of a round, and makes some rounds slower to widen its interval.
  const SingleSpeedup one =
      single_speedup({1050e-6, 1050e-6, 1050e-6, 1050e-6}, {2550e-6, 8050e-6, 2550e-6, 9050e-6},
                     {0, 0, 1, 1}, kQuiet, kQuiet);
  EXPECT_NEAR(one.ratio, 0.4, 1e-9);
  EXPECT_LT(one.high, 0.42);
}

TEST(SingleSpeedup, FirstCallOfHardware_IsNotHeldAgainstAShortKernel) {
  // 10 us a call, and 15 us more in the first call of a round.
  const SingleSpeedup one = single_speedup({90e-6}, {75e-6}, {0}, kQuiet, kQuiet);
  EXPECT_LT(one.ratio, 1.7);
  EXPECT_GT(one.high, 4);
}

}  // namespace
}  // namespace hone
