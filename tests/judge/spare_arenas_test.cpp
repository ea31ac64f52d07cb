// Arenas of a judge between two uses.
#include "judge/spare_arenas.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "judge/timing/fakes.hpp"

namespace hone {
namespace {

constexpr std::uint64_t kBytes = 1 << 16;

TEST(SpareArenas, CopyOfAPart_IsAWholeArenaNextTime) {
  SpareArenas spares;
  auto copy = test::make_arena(kBytes);
  copy->set_origin(4096);
  spares.keep(std::move(copy));
  const auto taken = spares.take(kBytes);
  ASSERT_NE(taken, nullptr);
  EXPECT_EQ(taken->origin(), 0u);
}

TEST(SpareArenas, TooSmallOne_StaysASpare) {
  SpareArenas spares;
  spares.keep(test::make_arena(kBytes));
  EXPECT_EQ(spares.take(2 * kBytes), nullptr);
  EXPECT_NE(spares.take(kBytes), nullptr);
  EXPECT_EQ(spares.take(kBytes), nullptr) << "it was taken";
}

}  // namespace
}  // namespace hone
