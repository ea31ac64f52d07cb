// The table of `hone eval`.
#include "offline/file_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/flags.hpp"

namespace hone {
namespace {

/// The table's row of a correct file with this result of its confirmation run.
std::string row_with(const std::string& second_look, const std::vector<std::string>& flags = {}) {
  Verdict verdict;
  verdict.outcome = Outcome::kCorrect;
  verdict.speedup = Speedup{.value = 12, .low = 11, .high = 13, .flags = flags};
  verdict.second_look = second_look;
  Terminal terminal(false, false);
  testing::internal::CaptureStdout();
  EXPECT_EQ(report_files(terminal, {{"a.cpp", "", "", verdict, {}, ""}}, false), kExitOk);
  const std::string shown = testing::internal::GetCapturedStdout();
  return shown.substr(shown.find("a.cpp"));
}

TEST(FileReport, ConfirmationRun_IsInTheNote) {
  EXPECT_THAT(row_with(""), testing::Not(testing::HasSubstr("confirmation")));
  EXPECT_THAT(row_with("agreed"), testing::HasSubstr(" confirmation run agreed"));
  EXPECT_THAT(row_with("agreed", {flags::kNoisy}),
              testing::HasSubstr(std::string(flags::kNoisy) + ", confirmation run agreed"));
  EXPECT_THAT(row_with("disagreed", {flags::kSecondLookDisagrees}),
              testing::EndsWith(" " + std::string(flags::kSecondLookDisagrees) + "\n"));
}

}  // namespace
}  // namespace hone
