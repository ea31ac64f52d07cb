// Where private memory of recorded plans lies.
#include <gtest/gtest.h>

#include "recorded/layout.hpp"

namespace hone_gpu {
namespace {

using hone::recorded::Memory;
using hone::recorded::MemoryKind;
using hone::recorded::Plan;

Memory needed(std::uint64_t bytes, std::uint32_t first, std::uint32_t last) {
  return {MemoryKind::kPrivate, bytes, 0, 0, "", first, last};
}

TEST(PlanLayout, LifetimesApart_ShareMemory) {
  Plan plan;
  plan.memories = {needed(1000, 0, 1),
                   needed(100, 0, 4),
                   needed(600, 2, 3),
                   needed(512, 2, 4),
                   {MemoryKind::kTask, 4096, 0, 0, "", 0, 0},
                   needed(0, 0, 9)};
  const Layout layout = lay_out(plan);
  EXPECT_EQ(layout.offsets, (std::vector<std::uint64_t>{0, 1024, 0, 1536, 0, 0}));
  EXPECT_EQ(layout.bytes, 2048u);
}

TEST(PlanLayout, GapThatFits_IsTaken) {
  Plan plan;
  plan.memories = {needed(512, 0, 9), needed(512, 0, 1), needed(512, 0, 9), needed(500, 2, 3),
                   needed(513, 2, 3)};
  EXPECT_EQ(lay_out(plan).offsets, (std::vector<std::uint64_t>{0, 512, 1024, 512, 1536}));
}

TEST(PlanLayout, StepsThatMayOverlap_ShareNothing) {
  Plan plan;
  plan.memories = {needed(512, 0, 0), needed(512, 1, 1)};
  EXPECT_EQ(lay_out(plan).bytes, 512u);
  plan.streams = 2;
  EXPECT_EQ(lay_out(plan).bytes, 1024u);
  plan.streams = 1;
  hone::recorded::Launch launch;
  launch.overlaps = true;
  plan.run = {{0, launch}};
  EXPECT_EQ(lay_out(plan).bytes, 1024u);
}

}  // namespace
}  // namespace hone_gpu
