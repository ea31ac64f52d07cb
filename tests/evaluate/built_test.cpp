// What a build's failure and a module's dry run decide: enums that travel by name, and no text.
#include <gtest/gtest.h>

#include "evaluate/verdicts.hpp"

namespace hone {
namespace {

std::string reason_of(BuildFailure failure, const std::string& diagnostics) {
  Built built;
  built.failure = failure;
  built.diagnostics = diagnostics;
  return verdict_of_build(built, "submission.cpp", EvaluatorOptions())->reason;
}

TEST(BuildFailure, Names_ComeBackAndOthersAreRefused) {
  for (int i = 0; i <= static_cast<int>(BuildFailure::kKilled); ++i) {
    const auto failure = static_cast<BuildFailure>(i);
    const auto parsed = parse_build_failure(build_failure_name(failure));
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(*parsed, failure);
  }
  const auto unknown = parse_build_failure("timed out");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message,
            "build failure: found 'timed out', expected one of '', refused, timed_out, starved, "
            "out_of_memory, killed");
}

TEST(BuildFailure, Verdict_FollowsTheFailureWhateverTheCompilerSays) {
  for (const std::string diagnostics : {"", "submission.cpp:1:1: error: killed, timed_out\n"}) {
    EXPECT_NE(reason_of(BuildFailure::kTimedOut, diagnostics).find("needed more than"),
              std::string::npos);
    EXPECT_NE(reason_of(BuildFailure::kStarved, diagnostics).find("did not finish in time"),
              std::string::npos);
    for (const BuildFailure failure : {BuildFailure::kKilled, BuildFailure::kOutOfMemory})
      EXPECT_NE(reason_of(failure, diagnostics).find("MB"), std::string::npos);
    EXPECT_EQ(reason_of(BuildFailure::kRefused, diagnostics), "the compiler refused it");
  }
}

}  // namespace
}  // namespace hone
