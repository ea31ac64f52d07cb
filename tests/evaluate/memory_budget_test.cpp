#include "evaluate/memory_budget.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hone {
namespace {

constexpr std::uint64_t kGib = std::uint64_t{1} << 30;

/// One input and one output, each with `elements` elements of type f32.
Task task_of(std::int64_t elements) {
  Task task;
  task.id = "task";
  task.arguments = {"x", "out"};
  Tensor x, out;
  x.name = "x";
  x.role = Role::kIn;
  out.name = "out";
  out.role = Role::kOut;
  for (Tensor* tensor : {&x, &out}) {
    tensor->dtype = DType::kF32;
    tensor->shape = {std::to_string(elements)};
    task.tensors.push_back(*tensor);
  }
  task.families.resize(1);
  task.tolerance.from_reference = true;
  return task;
}

MemoryNeed need_of(std::int64_t elements, std::uint64_t device_bytes) {
  const auto need = memory_need(task_of(elements), {}, device_bytes, kContextBytes, true, true);
  EXPECT_TRUE(need.ok()) << need.error().message;
  return need.ok() ? *need : MemoryNeed{};
}

double gib(std::uint64_t bytes) { return static_cast<double>(bytes) / static_cast<double>(kGib); }

TEST(MemoryBudget, LargeTask_NeedsItsArenasCopiesAndWorkingSets) {
  const MemoryNeed need = need_of(1'610'612'736, 80 * kGib);  // 6 GiB for x, 6 GiB for out
  EXPECT_NEAR(gib(need.reference_arena), 6 + 6, 0.01);        // too large for answers in double
  EXPECT_NEAR(gib(need.baseline_arena), 12, 0.01);
  EXPECT_NEAR(gib(need.submission_arena), 12, 0.01);
  EXPECT_NEAR(gib(need.snapshots), 6, 0.01);
  EXPECT_NEAR(gib(need.reference_work), 2 * 6, 0.01);
  EXPECT_NEAR(gib(need.baseline_work), 6, 0.01);
  EXPECT_NEAR(gib(need.submission_work), 6, 0.01);
  EXPECT_NEAR(gib(need.contexts), 1.5, 0.01);
  EXPECT_NEAR(gib(need.expected()), 12 + 2 * 12 + 6 + 12 + 1.5, 0.05);
  EXPECT_NEAR(gib(need.least()), 12 + 2 * 12 + 6 + 2 * 6 + 1.5, 0.05);
  EXPECT_NEAR(gib(need.installed()), 12 + 12 + 1 + 6 + 1, 0.05);
}

TEST(MemoryBudget, SmallTask_HasRoomForSeveralRounds) {
  const MemoryNeed need = need_of(1 << 20, 80 * kGib);  // 4 MiB each
  EXPECT_EQ(need.reference_arena, kGib);
  EXPECT_GT(need.snapshots, 16 * (8u << 20));
  EXPECT_LT(need.expected(), 4 * kGib);
  EXPECT_FALSE(need.in_turn);
  EXPECT_TRUE(need_of(1 << 20, 60u << 20).in_turn) << "large for such a device";
}

TEST(MemoryBudget, TooManyElements_AreAnError) {
  EXPECT_FALSE(
      memory_need(task_of(std::int64_t{1} << 40), {}, 80 * kGib, kContextBytes, true, true).ok());
}

TEST(MemoryBudget, Place_FollowsFromNeedAndDevice) {
  struct Row {
    const char* what;
    std::int64_t elements;
    std::uint64_t device;
    int lanes;
    bool ran_short;
    MemoryPlace place;
  };
  const Row rows[] = {
      {"no device memory of its own", 1 << 30, 0, 3, false, MemoryPlace::kShared},
      {"small, three lanes", 1 << 20, 80 * kGib, 3, false, MemoryPlace::kShared},
      {"small, but a submission ran short", 1 << 20, 80 * kGib, 3, true, MemoryPlace::kExclusive},
      {"1 GiB each, three lanes", 1 << 28, 80 * kGib, 3, false, MemoryPlace::kShared},
      {"2 GiB each, three lanes", 1 << 29, 80 * kGib, 3, false, MemoryPlace::kShared},
      {"2 GiB each, one lane", 1 << 29, 80 * kGib, 1, false, MemoryPlace::kShared},
      {"6 GiB each, three lanes", 1'610'612'736, 80 * kGib, 3, false, MemoryPlace::kShared},
      {"8 GiB each, three lanes", 2'147'483'648, 80 * kGib, 3, false, MemoryPlace::kExclusive},
      {"6 GiB each, 140 GiB", 1'610'612'736, 140 * kGib, 1, false, MemoryPlace::kShared},
      {"6 GiB each, 48 GiB", 1'610'612'736, 48 * kGib, 3, false, MemoryPlace::kRefused},
      {"12 GiB each, 80 GiB", 3'221'225'472, 80 * kGib, 1, false, MemoryPlace::kRefused},
      {"a device too small for three lanes", 1 << 20, 8 * kGib, 3, false, MemoryPlace::kExclusive},
  };
  for (const Row& row : rows) {
    DeviceMemory device;
    device.bytes = row.device;
    device.lanes = row.lanes;
    device.standby = 6;
    EXPECT_EQ(place_for(need_of(row.elements, row.device), device, row.ran_short), row.place)
        << row.what;
  }
}

TEST(MemoryBudget, ProcessThatReadsCounters_TakesTheMemoryOfOneContextFromSharedUse) {
  DeviceMemory device;
  device.bytes = std::uint64_t{80} << 30;
  device.lanes = 4;
  const std::uint64_t shared = device.shared_bytes(), exclusive = device.exclusive_bytes();
  device.players = 1;
  EXPECT_EQ(device.shared_bytes(), shared - device.context_bytes);
  EXPECT_EQ(device.exclusive_bytes(), exclusive) << "it ends before exclusive use";
}

TEST(MemoryBudget, Eviction_StartsWithTheTaskUsedLongestAgo) {
  EXPECT_EQ(count_to_evict({}, 10, 5), 0u);
  EXPECT_EQ(count_to_evict({3, 3, 3}, 1, 10), 0u);
  EXPECT_EQ(count_to_evict({3, 3, 3}, 2, 10), 1u);
  EXPECT_EQ(count_to_evict({3, 3, 3}, 5, 10), 2u);
  EXPECT_EQ(count_to_evict({3, 3, 3}, 11, 10), 3u);
  EXPECT_EQ(count_to_evict({9, 1}, 2, 10), 2u);
}

TEST(MemoryBudget, Refusal_NamesBothNumbers) {
  EXPECT_EQ(refusal_text("level1/45", 97'925'000'000, 85'041'000'000),
            "level1/45 needs 91.2 GiB of device memory, the device has 79.2 GiB");
}

}  // namespace
}  // namespace hone
