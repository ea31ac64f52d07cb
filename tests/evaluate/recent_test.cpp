// What is kept about a task for its later installations.
#include "evaluate/recent.hpp"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(Recent, LastFinding_IsKept) {
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
