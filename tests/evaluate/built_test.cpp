// Results of builds and of dry runs: the decision depends on enums, not on texts.
#include <gtest/gtest.h>

#include "evaluate/verdicts.hpp"

namespace hone {
namespace {

std::string reason_of(BuildFailure failure, const std::string& diagnostics, bool starved = false) {
  Built built;
  built.failure = failure;
  built.starved = starved;
  built.diagnostics = diagnostics;
  return verdict_of_build(built, "submission.cpp", EvaluatorOptions())->reason;
}

TEST(BuildFailure, Names_ComeBackAndOthersAreRefused) {
  for (int i = 0; i <= static_cast<int>(BuildFailure::kKilled); ++i) {
    const auto failure = static_cast<BuildFailure>(i);
    const auto parsed = parse_enum<BuildFailure>(enum_name(failure));
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(*parsed, failure);
  }
  const auto unknown = parse_enum<BuildFailure>("timed out");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message,
            "build failure: found 'timed out', expected one of '', refused, timed_out, "
            "out_of_memory, killed");
}

TEST(BuildFailure, Verdict_FollowsTheFailureWhateverTheCompilerSays) {
  for (const std::string diagnostics : {"", "submission.cpp:1:1: error: killed, timed_out\n"}) {
    EXPECT_NE(reason_of(BuildFailure::kTimedOut, diagnostics).find("needed more than"),
              std::string::npos);
    EXPECT_NE(reason_of(BuildFailure::kTimedOut, diagnostics, true).find("did not finish in time"),
              std::string::npos);
    for (const BuildFailure failure : {BuildFailure::kKilled, BuildFailure::kOutOfMemory})
      EXPECT_NE(reason_of(failure, diagnostics).find("MB"), std::string::npos);
    EXPECT_EQ(reason_of(BuildFailure::kRefused, diagnostics), "the compiler refused it");
  }
}

TEST(DryRun, FirstLine_NamesTheFailureAndTheKindOfExtension) {
  struct Case {
    const char* line;
    DryRunFailure failure;
    ExtensionKind kind;
    const char* words;
  };
  const Case cases[] = {
      {"", DryRunFailure::kNone, ExtensionKind::kHost, ""},
      {"load NameError: build", DryRunFailure::kLoad, ExtensionKind::kHost, "NameError: build"},
      {"run hindered host", DryRunFailure::kRun, ExtensionKind::kHost, "hindered host"},
      {"build device a\x1e b", DryRunFailure::kBuild, ExtensionKind::kDevice, "a\n b\n"},
      {"link host build", DryRunFailure::kLink, ExtensionKind::kHost, "build\n"},
      {"hindered host no g++", DryRunFailure::kHindered, ExtensionKind::kHost, "no g++\n"},
  };
  for (const Case& each : cases) {
    const auto said = read_dry_run(std::string(each.line) + "\n\ncompiled");
    ASSERT_TRUE(said) << each.line << ": " << said.error().message;
    EXPECT_EQ(said->failure, each.failure) << each.line;
    EXPECT_EQ(said->kind, each.kind) << each.line;
    EXPECT_EQ(said->words, each.words) << each.line;
    EXPECT_EQ(said->compiled, "compiled") << each.line;
  }
}

TEST(DryRun, UnknownName_IsRefusedWithWhatWasExpected) {
  const auto message = [](const std::string& line) {
    const auto said = read_dry_run(line + "\n\n");
    return said ? "" : said.error().message;
  };
  EXPECT_EQ(
      message("loading NameError: x"),
      "dry run: failure: found 'loading', expected one of '', load, run, build, link, hindered");
  EXPECT_EQ(message("build gpu main.cpp:1: error"),
            "kind of extension: found 'gpu', expected one of host, device");
  EXPECT_EQ(message("build host"),
            "dry run: found the failure 'build' without a message, expected one after it; the "
            "device decides");
}

TEST(DryRun, Verdict_FollowsTheFailureWhateverWasRaised) {
  const auto verdict = [](DryRunFailure failure) {
    Built built;
    built.ok = true;
    built.dry_run = failure;
    built.raised = "NameError: name 'build' is not defined while loading";
    return verdict_of_dry_run(built);
  };
  EXPECT_FALSE(verdict(DryRunFailure::kNone));
  EXPECT_EQ(verdict(DryRunFailure::kBuild)->outcome, Outcome::kBuildFailed);
  EXPECT_EQ(verdict(DryRunFailure::kBuild)->reason, "the compiler refused its extension");
  EXPECT_EQ(verdict(DryRunFailure::kLink)->reason, "the linker refused its extension");
  EXPECT_EQ(verdict(DryRunFailure::kLoad)->stage, VerdictStage::kLoad);
  EXPECT_EQ(verdict(DryRunFailure::kRun)->stage, VerdictStage::kCheck);
}

}  // namespace
}  // namespace hone
