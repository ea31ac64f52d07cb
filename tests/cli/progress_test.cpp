// The text of the progress line.
#include "terminal/progress.hpp"

#include <gtest/gtest.h>

namespace hone {
namespace {

Verdict of(Outcome outcome) {
  Verdict verdict;
  verdict.outcome = outcome;
  return verdict;
}

TEST(Progress, Results_AreCountedByKind) {
  ResultCounts counts;
  counts.add(of(Outcome::kCorrect));
  counts.add(of(Outcome::kWrong));
  counts.add(of(Outcome::kWrong));
  counts.add(of(Outcome::kCrashed));
  counts.add(of(Outcome::kBuildFailed));
  counts.add(of(Outcome::kCheated));
  counts.add(unavailable("no device"));
  EXPECT_EQ(counts.correct, 1u);
  EXPECT_EQ(counts.wrong, 2u);
  EXPECT_EQ(counts.other, 3u);
  EXPECT_EQ(counts.not_judged, 1u);
  EXPECT_EQ(counts.done(), 7u);
}

struct TextCase {
  ResultCounts counts;
  std::size_t total, judged;
  double seconds;
  const char* text;
};

TEST(Progress, Text_HasRateAndEtaOnceSomethingWasJudged) {
  const TextCase cases[] = {
      {{}, 100, 0, 5, "0/100  correct 0  wrong 0  other 0"},
      {{0, 0, 2, 0}, 100, 0, 5, "2/100  correct 0  wrong 0  other 2"},
      {{7, 3, 2, 0}, 100, 12, 4, "12/100  3.00/s  eta 30 s  correct 7  wrong 3  other 2"},
      {{7, 3, 2, 1},
       100,
       3,
       6,
       "13/100  0.50/s  eta 2 min 54 s  correct 7  wrong 3  other 2  not judged 1"},
      {{1, 0, 0, 0}, 1000, 1, 10, "1/1000  0.10/s  eta 2 h 46 min  correct 1  wrong 0  other 0"},
      {{1, 0, 0, 0}, 1, 1, 2, "1/1  0.50/s  eta 0 s  correct 1  wrong 0  other 0"},
  };
  for (const TextCase& one : cases) {
    EXPECT_EQ(progress_text(one.counts, one.total, one.judged, one.seconds), one.text);
  }
}

TEST(Progress, WithoutATerminal_NothingIsPrinted) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  {
    Terminal terminal(false, false);
    Progress progress(terminal, "", 2);
    progress.start();
    progress.count(of(Outcome::kCorrect));
    progress.show("build");
  }
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Progress, OnATerminal_OneLineIsReplacedAndClearedAtTheEnd) {
  testing::internal::CaptureStderr();
  {
    Terminal terminal(false, true);
    Progress progress(terminal, "", 3);
    progress.leave_out();
    progress.count(of(Outcome::kCorrect));
    progress.start();
    progress.show("");
    progress.show("build");
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "\r\033[K1/2  correct 1  wrong 0  other 0"
            "\r\033[K1/2  correct 1  wrong 0  other 0  build…\r\033[K");
}

}  // namespace
}  // namespace hone
