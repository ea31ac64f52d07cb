// Feedback for each outcome: compared with golden files, and within its token limit.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/files.hpp"
#include "episode/service_fixture.hpp"
#include "kernel_refine/messages.hpp"
#include "places.hpp"

namespace hone::kernel_refine {
namespace {

const std::vector<std::string> kLanguages = {"c++", "c"};

const Messages& messages() {
  static const Result<Messages> kLoaded = Messages::load(test::templates_folder());
  if (!kLoaded) ADD_FAILURE() << kLoaded.error().message;
  return *kLoaded;
}

/// Compares to golden/<name>; with HONE_GOLDEN=write it writes the file instead.
void expect_golden(const std::string& name, const std::string& text) {
  const std::filesystem::path path =
      test::source_dir() / "tests/kernel_refine/golden" / (name + ".md");
  const char* mode = std::getenv("HONE_GOLDEN");
  if (mode != nullptr && std::string(mode) == "write") {
    ASSERT_TRUE(write_file(path, text + "\n").ok());
    return;
  }
  const auto golden = read_file(path);
  ASSERT_TRUE(golden.ok()) << golden.error().message;
  EXPECT_EQ(text + "\n", *golden) << "HONE_GOLDEN=write writes " << path;
}

struct Case {
  TurnResult result;
  RefineSettings settings;
  std::int64_t turns_left = 2;
  double best = 0;

  std::string feedback() const {
    return messages().feedback(
        {task, kLanguages, settings, result, turns_left, turns_left == 0, best, backend});
  }
  Task task = test::small_task();
  std::string backend = "cpu";
};

Case of(Outcome outcome, const std::string& reason) {
  Case c;
  c.result.verdict = Verdict{};
  c.result.verdict->outcome = outcome;
  c.result.verdict->reason = reason;
  return c;
}

TEST(Feedback, SystemAndTaskPrompt_MatchTheGoldenFiles) {
  expect_golden("system", messages().system(test::small_task(), kLanguages, "cpu"));
  RefineSettings settings;
  settings.rules.stop_speedup = 1.3;
  expect_golden("task", messages().task(test::small_task(), kLanguages, settings, "cpu"));
}

TEST(Feedback, OnlyTorchOperators_AreMentioned) {
  const std::string reason =
      "it started no kernel of its own: torch's operators did the work (aten.mm)";
  Case rejected = of(Outcome::kRejected, reason);
  rejected.result.verdict->work = Work{{{}, {{"aten.mm", 1}}}};
  expect_golden("rejected_work", rejected.feedback());
  Case said = of(Outcome::kCorrect, reason);
  expect_golden("correct_with_a_word", said.feedback());
}

TEST(Feedback, Modules_HaveTheirOwnTemplates) {
  const std::vector<std::string> python = {"python"};
  Task module = test::small_task();
  module.title = "19_ReLU";
  module.description = "Write a class `ModelNew`.\n";
  module.entry = "ModelNew";
  module.backends["cpu"].languages = python;
  expect_golden("system_python", messages().system(module, python, "cpu"));
  expect_golden("task_python", messages().task(module, python, RefineSettings(), "cpu"));
  const RefineSettings settings;
  for (const Outcome outcome : {Outcome::kNoCode, Outcome::kBuildFailed, Outcome::kTimedOut,
                                Outcome::kCrashed, Outcome::kWrong}) {
    Case c = of(outcome, "it holds no class");
    if (outcome == Outcome::kBuildFailed) {
      c.result.verdict->diagnostics = "submission.py:3: SyntaxError: invalid syntax\n";
    }
    const std::string text =
        messages().feedback({module, python, settings, c.result, 1, false, 0, "cpu"});
    expect_golden(std::string(outcome_name(outcome)) + "_python", text);
    EXPECT_EQ(text.find("extern"), std::string::npos);
  }
  Case slow = of(Outcome::kCorrect, "");
  Speedup& speedup = slow.result.verdict->speedup.emplace();
  speedup.value = 0.5;
  const std::string text =
      messages().feedback({module, python, settings, slow.result, 1, false, 0, "cpu"});
  EXPECT_NE(text.find("fuse operations into fewer kernels"), std::string::npos) << text;
  EXPECT_EQ(text.find("__restrict"), std::string::npos);
}

TEST(Feedback, EachOutcome_HasAGoldenFile) {
  for (const OutcomeRow& row : kOutcomes) {
    if (row.outcome == Outcome::kCorrect) continue;  // its golden files have the templates' names
    const std::string file = std::string(row.name) + ".md";
    EXPECT_TRUE(std::filesystem::exists(test::source_dir() / "tests/kernel_refine/golden" / file))
        << file << ": add a test of the outcome's template to this file";
  }
}

TEST(Feedback, NoCode_MatchesTheGoldenFile) {
  expect_golden("no_code",
                of(Outcome::kNoCode, "looked for a fenced block; found none").feedback());
}

TEST(Feedback, Rejected_MatchesTheGoldenFile) {
  expect_golden(
      "rejected",
      of(Outcome::kRejected, "the source is not text: byte 0x00 at offset 12").feedback());
}

TEST(Feedback, BuildFailed_MatchesTheGoldenFile) {
  Case c = of(Outcome::kBuildFailed, "the compiler found 1 error");
  c.result.verdict->diagnostics =
      "submission.cpp:3:5: error: 'z' was not declared in this scope\n    3 |     z;\n";
  expect_golden("build_failed", c.feedback());
}

TEST(Feedback, BuildEndedWithoutAMessage_MatchesTheGoldenFile) {
  expect_golden(
      "build_ended",
      of(Outcome::kBuildFailed, "the compiler needed more than 3 s of processor time").feedback());
}

TEST(Feedback, CrashBySignal_MatchesTheGoldenFile) {
  Case c = of(Outcome::kCrashed, "signal SIGSEGV in a check of shape n=1003");
  c.result.verdict->signal = "SIGSEGV";
  expect_golden("crashed", c.feedback());
}

TEST(Feedback, Signals_AreExplained) {
  EXPECT_NE(signal_meaning("SIGFPE").find("division by zero"), std::string::npos);
  EXPECT_NE(signal_meaning("SIGILL").find("instruction"), std::string::npos);
  EXPECT_NE(signal_meaning("SIGABRT").find("abort()"), std::string::npos);
  EXPECT_NE(signal_meaning("SIGSYS").find("system call"), std::string::npos);
  EXPECT_NE(signal_meaning("SIGBUS").find("outside the arrays"), std::string::npos);
  EXPECT_EQ(signal_meaning(""), "");
}

TEST(Feedback, ShapeNotAMultipleOfEight_HasAHint) {
  EXPECT_NE(shape_hint("shape n=1003").find("n=1003 is no multiple of 8"), std::string::npos);
  EXPECT_NE(shape_hint("m=8, n=9").find("n=9"), std::string::npos);
  EXPECT_EQ(shape_hint("n=1024"), "");
  EXPECT_EQ(shape_hint("hidden"), "");
  EXPECT_EQ(shape_hint("=="), "");
  EXPECT_EQ(shape_hint("n=99999999999999999999999"), shape_hint("n=999999999999999"));
}

TEST(Feedback, TimedOutAndOutOfMemory_MatchTheGoldenFiles) {
  expect_golden("timed_out", of(Outcome::kTimedOut, "a call took longer than 10 s").feedback());
  expect_golden("out_of_memory", of(Outcome::kOutOfMemory, "more than 256 MB").feedback());
}

TEST(Feedback, WrongShownShape_MatchesTheGoldenFile) {
  Case c = of(Outcome::kWrong, "output 'out' is outside the tolerance");
  c.result.verdict->mismatch =
      Mismatch{"out", "n=1003", "cancel", {1002}, 1.25, 0.5, 1e-6, 12, 1003, 3};
  expect_golden("wrong", c.feedback());
}

TEST(Feedback, WrongHiddenShape_HasNoElementCounts) {
  Case c = of(Outcome::kWrong, "output 'out' is outside the tolerance");
  c.result.verdict->mismatch = Mismatch{"out", "hidden", "normal", {}, {}, {}, 1e-6, 7, 29, 2};
  const std::string text = c.feedback();
  expect_golden("wrong_hidden", text);
  EXPECT_EQ(text.find("29"), std::string::npos);
}

TEST(Feedback, Cheated_MatchesTheGoldenFile) {
  expect_golden("cheated", of(Outcome::kCheated, "faster than memory can be read").feedback());
}

TEST(Feedback, Correct_MatchesTheGoldenFiles) {
  Case c = of(Outcome::kCorrect, "");
  expect_golden("correct_unmeasured", c.feedback());
  c.result.verdict->speedup = Speedup{0.62, 0.6, 0.64, 161.3, 100, 8, 16, {"noisy"}};
  c.best = 1.1;
  expect_golden("slow", c.feedback());
  c.result.verdict->speedup = Speedup{1.48, 1.45, 1.51, 67.6, 100, 8, 16, {}};
  c.settings.rules.stop_speedup = 1.3;
  c.turns_left = 0;
  expect_golden("fast", c.feedback());
}

TEST(Feedback, Findings_ReplaceGeneralAdvice) {
  Case c = of(Outcome::kCorrect, "");
  c.result.verdict->speedup = Speedup{0.62, 0.6, 0.64, 161.3, 100, 8, 16, {}};
  c.result.verdict->findings = {"The loop at line 4 is not vectorized.", "It has ``` 3 divisions."};
  expect_golden("slow_with_findings", c.feedback());
}

TEST(Feedback, AutotunedKernel_FeedbackHasItsConfiguration) {
  Case c = of(Outcome::kCorrect, "");
  c.result.verdict->speedup = Speedup{1.48, 1.45, 1.51, 67.6, 100, 8, 16, {}};
  c.result.verdict->configurations = {{"matmul", "n: 4", "BLOCK: 64 ```", 2, 5},
                                      {"add", "", "BLOCK: 8", 1, 2}};
  const std::string text = c.feedback();
  EXPECT_NE(text.find("\n- matmul (n: 4): configuration 2 of 5 (BLOCK: 64 " + std::string(3, '\'') +
                      ")\n"
                      "- add: configuration 1 of 2 (BLOCK: 8)\n"),
            std::string::npos)
      << text;
}

TEST(Feedback, FindingsBeyondTheTokenLimit_AreDroppedFromTheEnd) {
  Case c = of(Outcome::kCorrect, "");
  c.result.verdict->speedup = Speedup{0.62, 0.6, 0.64, 161.3, 100, 8, 16, {}};
  c.result.verdict->findings = {"First.", std::string(400, 's')};
  c.settings.feedback_tokens = 100;
  const std::string text = c.feedback();
  EXPECT_NE(text.find("- First.\n\n2 turns are left."), std::string::npos) << text;
  c.settings.feedback_tokens = 600;
  EXPECT_NE(c.feedback().find("- " + std::string(400, 's')), std::string::npos);
}

TEST(Feedback, AllFindingsDropped_HasGeneralAdvice) {
  Case c = of(Outcome::kCorrect, "");
  c.result.verdict->speedup = Speedup{0.62, 0.6, 0.64, 161.3, 100, 8, 16, {}};
  c.result.verdict->findings = {std::string(2000, 's')};
  c.settings.feedback_tokens = 200;
  const std::string text = c.feedback();
  EXPECT_NE(text.find("It is slower than the plain baseline"), std::string::npos) << text;
  EXPECT_EQ(text.find("Where its time goes"), std::string::npos) << text;
}

TEST(Feedback, TimedOutOnADevice_NamesItsLimit) {
  Case c = of(Outcome::kTimedOut,
              "over 1 s for one call (at the timed shape the baseline takes 2.5 ms)");
  c.backend = "cuda";
  EXPECT_NE(
      c.feedback().find("A call that takes over 1 s and over 300 times the baseline's time may be "
                        "stopped."),
      std::string::npos)
      << c.feedback();
  c.task.slowdown_max = 0;
  EXPECT_EQ(c.feedback().find("be stopped"), std::string::npos) << c.feedback();
}

TEST(Feedback, DeviceCode_HasFindingsOrAdviceOfDevices) {
  for (const char* backend : {"cuda", "hip"}) {
    Case c = of(Outcome::kCorrect, "");
    c.result.verdict->speedup = Speedup{0.62, 0.6, 0.64, 161.3, 100, 8, 16, {}};
    const Task task = test::small_task();
    const std::vector<std::string> languages = {backend};
    const auto feedback = [&] {
      return messages().feedback({task, languages, c.settings, c.result, 2, false, 0, backend});
    };
    EXPECT_NE(feedback().find("have neighbouring threads read"), std::string::npos) << feedback();
    c.result.verdict->findings = {"A launch has 8 blocks."};
    EXPECT_NE(feedback().find("- A launch has 8 blocks.\n\n2 turns are left."), std::string::npos)
        << feedback();
  }
}

TEST(Feedback, Unscored_MatchesTheGoldenFile) { expect_golden("unscored", Case().feedback()); }

TEST(Feedback, Feedback_StaysWithinItsTokens) {
  Case c = of(Outcome::kBuildFailed, std::string(5000, 'r'));
  for (int i = 0; i < 400; ++i) {
    c.result.verdict->diagnostics +=
        "a.cpp:" + std::to_string(i) + ": error: é ``` something is wrong\n";
  }
  for (const std::int64_t tokens : {64, 100, 200, 600, 2000}) {
    c.settings.feedback_tokens = tokens;
    const std::string text = c.feedback();
    EXPECT_LE(text.size(), static_cast<std::size_t>(4 * tokens));
  }
  c.result.verdict->reason = "the compiler found 400 errors";
  c.settings.feedback_tokens = 600;
  const std::string text = c.feedback();
  EXPECT_NE(text.find("a.cpp:0: error: é ''' something"), std::string::npos) << text;
  EXPECT_NE(text.find("(left out: "), std::string::npos);
  EXPECT_NE(text.find("2 turns are left."), std::string::npos);
}

}  // namespace
}  // namespace hone::kernel_refine
