// Limits of the time of builders and interpreters: tables.
#include "evaluate/await_answer.hpp"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(AwaitAnswer, Limit_CountsTheProcessOwnTimeFirst) {
  struct Case {
    const char* what;
    double passed_s, starved_s, halted_s;
    TimeLimit reached;
  };
  constexpr AnswerLimits kLimits{2, 6};
  const Case cases[] = {
      {"it works", 1.9, 0, 0, TimeLimit::kNone},
      {"it sleeps on an idle machine", 2.1, 0, 0, TimeLimit::kOwn},
      {"it sleeps on a busy machine", 2.2, 0.1, 0, TimeLimit::kOwn},
      {"it has a share of a core", 5.9, 4.5, 0, TimeLimit::kNone},
      {"its share was too small", 6.1, 5, 0, TimeLimit::kClock},
      {"it got slowly through its own time", 6.1, 4, 0, TimeLimit::kOwn},
      {"the machine was stopped", 3600, 3599, 3599, TimeLimit::kNone},
      {"the machine was stopped, and is busy", 3606.5, 3605.5, 3600, TimeLimit::kClock},
  };
  for (const Case& each : cases)
    EXPECT_EQ(limit_reached(each.passed_s - each.starved_s, each.passed_s, each.halted_s, kLimits),
              each.reached)
        << each.what;
}

TEST(AwaitAnswer, ProcessWithLessThanAThirdOfItsTime_WasStarved) {
  const auto was_starved = [](double passed_s, double starved_s) {
    return Waited{TimeLimit::kNone, passed_s, starved_s}.was_starved();
  };
  EXPECT_TRUE(was_starved(12, 9));
  EXPECT_FALSE(was_starved(12, 7));
  EXPECT_FALSE(was_starved(12, 0));
  EXPECT_FALSE(was_starved(0, 0));
}

}  // namespace
}  // namespace hone
