// Recent: findings about a task, kept for later installations of the task.
#include "evaluate/recent.hpp"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(Recent, LaterFinding_ReplacesTheEarlierOne) {
  Recent<int> known;
  EXPECT_EQ(known.find("a"), std::nullopt);
  known.keep("a", 1);
  known.keep("b", 2);
  known.keep("a", 3);
  EXPECT_EQ(known.find("a"), 3);
  EXPECT_EQ(known.find("b"), 2);
}

}  // namespace
}  // namespace hone
