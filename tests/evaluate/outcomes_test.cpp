// Every outcome of a submission, with real sandboxes and a real judge, and the reason in the verdict.
#include <gtest/gtest.h>

#include "evaluate/shared_machine.hpp"
#include "model/caught.hpp"

namespace hone {
namespace {

using test::judge;

constexpr const char* kSignature =
    "#include <cstdint>\n#include <cstddef>\n"
    "extern \"C\" void add_relu(const float* x, const float* y, float* out, int64_t n) ";

Verdict verdict_of(const std::string& body, const std::string& before = "") {
  auto verdict = judge("add_relu", before + kSignature + "{" + body + "}");
  EXPECT_TRUE(verdict) << verdict.error().message;
  return verdict ? *verdict : Verdict();
}

constexpr const char* kRight =
    "for (int64_t i = 0; i < n; ++i) { float s = x[i] + y[i]; out[i] = s > 0 ? s : 0; }";

TEST(Outcome, CorrectSubmission_IsCorrect) {
  const Verdict v = verdict_of(kRight);
  EXPECT_EQ(v.outcome, Outcome::kCorrect) << v.reason;
  ASSERT_TRUE(v.speedup);
  EXPECT_GT(v.speedup->value, 0);
  EXPECT_LE(v.speedup->low, v.speedup->value);
  EXPECT_GE(v.speedup->high, v.speedup->value);
  EXPECT_NE(v.fingerprint.find("g++"), std::string::npos);
  EXPECT_EQ(v.source_hash.size(), 64u);
}

TEST(Outcome, Wrong_NamesTheWorstElement) {
  const Verdict v = verdict_of("for (int64_t i = 0; i < n; ++i) out[i] = x[i] * y[i];");
  EXPECT_EQ(v.outcome, Outcome::kWrong);
  EXPECT_EQ(v.stage, VerdictStage::kCheck);
  ASSERT_TRUE(v.mismatch);
  EXPECT_EQ(v.mismatch->tensor, "out");
  EXPECT_GT(v.mismatch->wrong, 0);
}

TEST(Outcome, BuildFailed_HasTheCompilerOutput) {
  const Verdict v = verdict_of("undeclared = 1;");
  EXPECT_EQ(v.outcome, Outcome::kBuildFailed);
  EXPECT_EQ(v.reason, "the compiler refused it");
  EXPECT_NE(v.diagnostics.find("submission.cpp:3:"), std::string::npos) << v.diagnostics;
  EXPECT_EQ(v.diagnostics.find("/tmp"), std::string::npos);
}

TEST(Outcome, MissingEntry_IsReported) {
  auto v = judge("add_relu", "extern \"C\" void other() {}");
  ASSERT_TRUE(v);
  EXPECT_EQ(v->outcome, Outcome::kBuildFailed);
  EXPECT_NE(v->diagnostics.find("add_relu"), std::string::npos) << v->diagnostics;
}

TEST(Outcome, Crashed_NamesTheSignal) {
  const Verdict v = verdict_of("*(volatile int*)8 = 1;");
  EXPECT_EQ(v.outcome, Outcome::kCrashed);
  EXPECT_EQ(v.signal, "SIGSEGV");
  EXPECT_EQ(v.reason.rfind("signal SIGSEGV in a check of ", 0), 0u) << v.reason;
  EXPECT_EQ(verdict_of("__builtin_trap();").signal, "SIGILL");
  EXPECT_EQ(verdict_of("abort();", "#include <cstdlib>\n").signal, "SIGABRT");
}

TEST(Outcome, Exit_IsACrash) {
  const Verdict v = verdict_of("exit(0);", "#include <cstdlib>\n");
  EXPECT_EQ(v.outcome, Outcome::kCrashed);
  EXPECT_NE(v.reason.find("exited with code 0"), std::string::npos) << v.reason;
}

/// Who hangs up on the judge and goes on has not ended: it must not look as if the machine had ended it.
TEST(Outcome, ClosedConnectionInARunningProcess_IsACrash) {
  for (const std::string how : {"(void)!write(3, \"\", 0);", "close(3);"}) {
    const Verdict v = verdict_of(kRight,
                                 "#include <time.h>\n#include <unistd.h>\n"
                                 "[[gnu::constructor]] static void hang_up() {" +
                                     how + "timespec t = {3, 0}; nanosleep(&t, nullptr); }\n");
    EXPECT_EQ(v.outcome, Outcome::kCrashed) << how;
    EXPECT_EQ(v.caught, caught::kBrokenReport) << v.reason;
  }
}

/// None of its calls is over the task's time.
TEST(Outcome, TotalTimeExceeded_IsNamed) {
  EvaluatorOptions options = test::quick_options();
  options.evaluation_seconds = 12;
  const auto machine = test::Machine::start(std::move(options));
  ASSERT_TRUE(machine) << machine.error().message;
  const std::string slow = std::string("#include <time.h>\n") + kSignature +
                           "{ timespec t = {2, 100000000}; nanosleep(&t, nullptr);" + kRight + "}";
  const auto verdict = (*machine)->judge((*machine)->task("add_relu"), slow);
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_EQ(verdict->outcome, Outcome::kTimedOut);
  EXPECT_NE(verdict->reason.find("over the 6 s that all of its calls may take in a check of "),
            std::string::npos)
      << verdict->reason;
}

/// Memory counts while a library loads, too.
TEST(Outcome, Memory_IsWatchedWhileLoading) {
  const Verdict v =
      verdict_of(kRight,
                 "#include <cstdlib>\n#include <cstring>\n#include <time.h>\n"
                 "static void* volatile kept; [[gnu::constructor]] static void take() {"
                 "void* p = malloc(600u << 20); if (p) memset(p, 1, 600u << 20); kept = p;"
                 "timespec t = {3, 0}; nanosleep(&t, nullptr); }\n");
  EXPECT_EQ(v.outcome, Outcome::kOutOfMemory) << v.reason;
}

TEST(Outcome, Exception_IsACrashWithItsMessage) {
  const Verdict v = verdict_of("throw std::runtime_error(\"my words\");", "#include <stdexcept>\n");
  EXPECT_EQ(v.outcome, Outcome::kCrashed);
  EXPECT_NE(v.reason.find("uncaught exception"), std::string::npos) << v.reason;
}

TEST(Outcome, OverrunOfOneElement_IsDetected) {
  // Reading one element beyond: only a page that cannot be read tells.
  const std::string read_over = std::string(kRight) + " volatile float f = x[n]; (void)f;";
  const Verdict read = verdict_of(read_over);
  EXPECT_EQ(read.outcome, Outcome::kCrashed);
  EXPECT_EQ(read.signal, "SIGSEGV");
  const Verdict before = verdict_of(std::string(kRight) + " out[-1] = 0;");
  EXPECT_EQ(before.outcome, Outcome::kWrong);
  EXPECT_EQ(before.reason.rfind("wrote outside of tensor ", 0), 0u) << before.reason;
}

TEST(Outcome, ChangedInput_IsWrong) {
  const Verdict v = verdict_of(std::string(kRight) + " const_cast<float*>(x)[0] = 0;");
  EXPECT_EQ(v.outcome, Outcome::kWrong);
  EXPECT_EQ(v.reason.rfind("changed the input tensor x", 0), 0u) << v.reason;
}

TEST(Outcome, LanguageC_IsJudged) {
  auto v =
      judge("add_relu",
            "#include <stdint.h>\nvoid add_relu(const float* restrict x, const float* y, float* "
            "out, int64_t n) {"
            "for (int64_t i = 0; i < n; ++i) { float s = x[i] + y[i]; out[i] = s > 0 ? s : 0; } }",
            1, "c");
  ASSERT_TRUE(v) << v.error().message;
  EXPECT_EQ(v->outcome, Outcome::kCorrect) << v->reason << v->diagnostics;
}

}  // namespace
}  // namespace hone
