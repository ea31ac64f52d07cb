// The place of tensors in an arena: aligned between canaries, or exactly before a guard page.
#include "judge/layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "judge/sample_task.hpp"

namespace hone {
namespace {

TEST(Layout, ExactFormOfEveryFloatOutput_IsDouble) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
    Task task = test::sample_task();
    for (Tensor& tensor : task.tensors) tensor.dtype = dtype;
    const auto exact = lay_out(task, {{"n", 100}}, 1, Placement::kCanaries, true);
    const auto plain = lay_out(task, {{"n", 100}}, 1, Placement::kCanaries, false);
    ASSERT_TRUE(exact && plain);
    EXPECT_EQ(exact->calls[0][0].bytes, 100 * dtype_size(dtype));
    EXPECT_EQ(exact->calls[0][1].bytes, 800u);
    EXPECT_EQ(plain->calls[0][1].bytes, 100 * dtype_size(dtype));
  }
}

void expect_canaries(const Region& r, std::uint64_t begin, std::uint64_t bytes) {
  EXPECT_EQ(r.begin, begin);
  EXPECT_EQ(r.payload % bytes, 0u);
  EXPECT_GE(r.payload - r.begin, bytes);
  EXPECT_GE(r.end - r.payload - r.bytes, bytes);
}

TEST(Layout, Canaries_AreOnBothSides) {
  auto layout = lay_out(test::sample_task(), {{"n", 1001}}, 3, Placement::kCanaries, false);
  ASSERT_TRUE(layout);
  std::uint64_t last = 0;
  for (const auto& call : layout->calls) {
    for (const Region& r : call) {
      expect_canaries(r, last, 64);
      last = r.end;
    }
  }
  EXPECT_EQ(layout->total, last);
  EXPECT_TRUE(layout->guards.empty());
}

TEST(Layout, OutputsOnADevice_AreContiguous) {
  auto layout = lay_out(test::sample_task(), {{"n", 1001}}, 3, Placement::kDevice, false);
  ASSERT_TRUE(layout);
  std::uint64_t last = 0;
  for (const std::size_t tensor : {0u, 1u}) {
    if (tensor == 1) {
      EXPECT_EQ(layout->outputs_begin, last);
    }
    for (const auto& call : layout->calls) {
      expect_canaries(call[tensor], last, 256);
      last = call[tensor].end;
    }
  }
  EXPECT_EQ(layout->outputs_end, last);
  EXPECT_EQ(layout->total, last);
}

TEST(Layout, GuardPage_FollowsTheLastElement) {
  Task task = test::sample_task();
  for (const std::int64_t alignment : {0, 64}) {
    task.alignment = alignment;
    auto layout = lay_out(task, {{"n", 1001}}, 1, Placement::kGuards, false);
    ASSERT_TRUE(layout);
    ASSERT_EQ(layout->guards.size(), 2u);
    const Region& r = layout->calls[0][0];
    EXPECT_EQ(layout->guards[0].at, r.end);
    EXPECT_EQ(r.end % 4096, 0u);
    if (alignment == 0) {
      EXPECT_EQ(r.payload + r.bytes, r.end);
    } else {
      EXPECT_EQ(r.payload % 64, 0u);
    }
  }
}

TEST(Layout, ExactForm_HasDoublesForOutputs) {
  auto layout = lay_out(test::sample_task(), {{"n", 10}}, 1, Placement::kCanaries, true);
  EXPECT_EQ(layout->calls[0][0].bytes, 40u);
  EXPECT_EQ(layout->calls[0][1].bytes, 80u);
}

}  // namespace
}  // namespace hone
