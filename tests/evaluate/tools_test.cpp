// Tools on the processor: each one on real submissions, with a planted fault that it has to name.
#include "evaluate/tools.hpp"

#include <gmock/gmock.h>
#include <sched.h>

#include "base/priority.hpp"
#include "evaluate/shared_machine.hpp"
#include "evaluate/sources.hpp"

namespace hone {
namespace {

using test::machine;
using testing::HasSubstr;
using testing::StartsWith;

Submission submission(const std::string& task, const std::string& source,
                      const std::string& language = "c++") {
  Submission s;
  s.task = machine().task(task);
  s.language = language;
  s.source = source;
  s.client = "test";
  s.episode = "tools";
  s.seed = 1;
  return s;
}

Examination examined(Tool tool, const std::string& task, const std::string& source,
                     const std::string& language = "c++") {
  auto found = examine_and_wait(machine().evaluator(), submission(task, source, language), tool);
  EXPECT_TRUE(found) << found.error().message;
  return found ? std::move(*found) : Examination{};
}

std::string add_relu(const std::string& body) {
  return "#include <cstdint>\nextern \"C\" void add_relu(const float* x, const float* y, float* "
         "out, int64_t n) {\n" +
         body + "\n}\n";
}

const std::string kRightSum =
    add_relu("for (int64_t i = 0; i < n; ++i) { float s = x[i] + y[i]; out[i] = s > 0 ? s : 0; }");

std::string joined_texts(const Value& list) {
  std::string text;
  for (const Value& one : list.as_array()) text += one.as_string() + "\n";
  return text;
}

TEST(Tools, Check_RightKernel_IsCorrectAndNotTimed) {
  const Examination found = examined(Tool::kCheck, "add_relu", kRightSum);
  ASSERT_TRUE(found.verdict);
  EXPECT_EQ(found.verdict->outcome, Outcome::kCorrect) << found.verdict->reason;
  EXPECT_FALSE(found.verdict->speedup);
}

TEST(Tools, Check_WrongOnAHiddenShapeOnly_IsCorrectOnTheShownShapes) {
  // The shown shapes and the timed one have other extents than 2 to 64, which the hidden ones have.
  const std::string source = add_relu(
      "bool hidden = n > 1 && n < 64;\nfor (int64_t i = 0; i < n; ++i) { float s = x[i] + y[i]; "
      "out[i] = hidden ? 7 : s > 0 ? s : 0; }");
  EXPECT_EQ(examined(Tool::kCheck, "add_relu", source).verdict->outcome, Outcome::kCorrect);
  EXPECT_EQ(test::judge("add_relu", source)->outcome, Outcome::kWrong);
}

TEST(Tools, Check_WrongKernel_NamesTheElement) {
  const Examination found =
      examined(Tool::kCheck, "add_relu", add_relu("for (int64_t i = 0; i < n; ++i) out[i] = 1;"));
  ASSERT_TRUE(found.verdict);
  EXPECT_EQ(found.verdict->outcome, Outcome::kWrong);
  EXPECT_TRUE(found.verdict->mismatch);
}

TEST(Tools, AnyTool_SourceThatDoesNotBuild_HasTheVerdictOfItsBuild) {
  for (const Tool tool :
       {Tool::kCheck, Tool::kProfile, Tool::kSanitize, Tool::kDisassemble, Tool::kCompile}) {
    const Examination found = examined(tool, "add_relu", add_relu("return undeclared;"));
    ASSERT_TRUE(found.verdict) << enum_name(tool);
    EXPECT_EQ(found.verdict->outcome, Outcome::kBuildFailed) << enum_name(tool);
    EXPECT_THAT(found.verdict->diagnostics, HasSubstr("undeclared"));
  }
}

TEST(Tools, Compile_LoopWithACallThatIsNotVectorized_NamesLineAndReason) {
  const Examination found =
      examined(Tool::kCompile, "add_relu",
               "#include <cmath>\n" +
                   add_relu("for (int64_t i = 0; i < n; ++i)\n  out[i] = std::exp(x[i]) + y[i];\n"
                            "for (int64_t i = 0; i < n; ++i)\n  out[i] = x[i] + y[i];"));
  EXPECT_FALSE(found.verdict);
  const Value::Array& loops = found.facts.find("loops")->as_array();
  ASSERT_EQ(loops.size(), 2u) << to_json(found.facts);
  EXPECT_EQ(*loops[0].find("line"), Value(4));
  EXPECT_EQ(*loops[0].find("vectorized"), Value(false));
  EXPECT_EQ(*loops[0].find("reason"), Value("it calls 'expf'"));
  EXPECT_EQ(*loops[1].find("vectorized"), Value(true));
}

TEST(Tools, Disassemble_ShowsTheInnermostLoopWithItsLine) {
  const Examination found = examined(Tool::kDisassemble, "add_relu", kRightSum);
  const Value::Array& blocks = found.facts.find("blocks")->as_array();
  ASSERT_FALSE(blocks.empty());
  ASSERT_NE(blocks[0].find("vector"), nullptr) << to_json(found.facts);
  EXPECT_EQ(*blocks[0].find("function"), Value("add_relu"));
  EXPECT_EQ(*blocks[0].find("is_loop"), Value(true));
  EXPECT_EQ(*blocks[0].find("lines"), Value::array({3, 3}));
  EXPECT_THAT(blocks[0].find("text")->as_string(), HasSubstr("addps"));
}

TEST(Tools, Sanitize_RightKernel_HasNoFinding) {
  for (const char* task : {"add_relu", "softmax", "histogram"}) {
    const auto known = machine().task(task);
    const Examination found =
        examined(Tool::kSanitize, task, known->backends.at("cpu").baseline.text);
    EXPECT_EQ(found.facts.find("findings")->as_array().size(), 0u) << to_json(found.facts);
    EXPECT_EQ(*found.facts.find("status"), Value(0)) << to_json(found.facts);
    EXPECT_GT(found.facts.find("calls")->as_int(), 1);
  }
}

TEST(Tools, Sanitize_ReadBehindAnInput_NamesTensorAndLine) {
  const Examination found =
      examined(Tool::kSanitize, "add_relu",
               add_relu("for (int64_t i = 0; i < n; ++i)\n  out[i] = x[i] + y[i + 1];"));
  const Value::Array& findings = found.facts.find("findings")->as_array();
  ASSERT_EQ(findings.size(), 1u) << to_json(found.facts);
  EXPECT_EQ(*findings[0].find("kind"), Value("heap-buffer-overflow"));
  EXPECT_EQ(*findings[0].find("line"), Value(4));
  EXPECT_THAT(findings[0].find("message")->as_string(),
              HasSubstr("READ of size 4, 0 bytes after tensor 'y'"));
  EXPECT_THAT(findings[0].find("call")->as_string(), HasSubstr("n=1"));
}

TEST(Tools, Sanitize_SignedOverflow_IsFoundInC) {
  const Examination found =
      examined(Tool::kSanitize, "add_relu",
               "#include <stdint.h>\nvoid add_relu(const float* x, const float* y, float* out, "
               "int64_t n) {\n  int big = 2147483647;\n  big += (int)n;\n"
               "  for (int64_t i = 0; i < n; ++i) out[i] = (float)big;\n}\n",
               "c");
  const Value::Array& findings = found.facts.find("findings")->as_array();
  ASSERT_EQ(findings.size(), 1u) << to_json(found.facts);
  EXPECT_EQ(*findings[0].find("kind"), Value("signed integer overflow"));
  EXPECT_EQ(*findings[0].find("line"), Value(4));
}

TEST(Tools, Sanitize_ProgramThatKillsItsBuilder_IsAnAnswerThatUsesTheCall) {
  const Examination found = examined(
      Tool::kSanitize, "add_relu",
      "#include <signal.h>\n#include <unistd.h>\n" + add_relu("kill(getppid(), SIGKILL);"));
  EXPECT_EQ(found.facts.find("findings")->as_array().size(), 0u) << to_json(found.facts);
  EXPECT_EQ(*found.facts.find("status"), Value(137)) << to_json(found.facts);
}

TEST(Tools, Sanitize_Program_HasUntimedCoresAndBuilderPriority) {
  const Examination found = examined(
      Tool::kSanitize, "add_relu",
      "#include <sched.h>\n#include <stdio.h>\n#include <sys/resource.h>\n#include <unistd.h>\n" +
          add_relu("cpu_set_t set;\nsched_getaffinity(0, sizeof set, &set);\nfor (int i = 0; i < "
                   "CPU_SETSIZE; ++i)\n  if (CPU_ISSET(i, &set)) dprintf(1, \"core %d\\n\", i);\n"
                   "dprintf(1, \"nice %d\\n\", getpriority(PRIO_PROCESS, 0));\n_exit(3);"));
  cpu_set_t own;
  ASSERT_EQ(sched_getaffinity(0, sizeof own, &own), 0);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(static_cast<std::size_t>(core), &own)) cores.push_back(core);
  }
  std::string expected;
  for (const int core : cores_for_programs(test::evaluator_options().devices, cores))
    expected += "core " + std::to_string(core) + "\n";
  EXPECT_THAT(found.facts.find("output")->as_string(),
              StartsWith(expected + "nice " + std::to_string(kBuilderPriority) + "\n"));
}

TEST(Tools, Sanitize_BelowPrivateIsolation_IsRefusedWithTheReason) {
  const auto task = machine().task("add_relu");
  const EvaluatorOptions options = test::evaluator_options();
  auto source = planned_submission(*task, "c++", kRightSum, options);
  ASSERT_TRUE(source);
  const Status refused =
      prepare_build(Tool::kSanitize, *task, options, IsolationLevel::kSeparated, "c++", *source);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "sanitize runs the kernel as a program of its own, which needs isolation 'private'; "
            "found 'separated'; hone doctor says what is missing");
  EXPECT_TRUE(
      prepare_build(Tool::kCheck, *task, options, IsolationLevel::kSeparated, "c++", *source));
}

TEST(Tools, Sanitize_EndlessKernel_NamesTheLimitAndTheCall) {
  const Examination found = examined(Tool::kSanitize, "add_relu", add_relu("for (;;) asm(\"\");"));
  // On a machine that gives it less than a third of a core, nothing is known about it.
  EXPECT_NE(*found.facts.find("timed_out"), *found.facts.find("starved")) << to_json(found.facts);
  EXPECT_THAT(found.facts.find("last_call")->as_string(), HasSubstr("n=1"));
  EXPECT_EQ(*found.facts.find("output"), Value("")) << to_json(found.facts);
}

TEST(Tools, Sanitize_ProgramWithoutACore_DidNotTimeOut) {
  BuildRequest request;
  request.name = "submission.cpp";
  request.program = std::make_shared<const SanitizerProgram>();
  Built built;
  built.ok = true;
  built.starved = true;  // the host's decision
  built.report = Value::map({{"output", ""}, {"status", 137}, {"timed_out", true}});
  const Value facts = facts_of_build(Tool::kSanitize, request, built);
  EXPECT_EQ(*facts.find("timed_out"), Value(false));
  EXPECT_EQ(*facts.find("starved"), Value(true));
  // A program that ended in time is not starved, however busy the machine was.
  built.report.set("timed_out", false);
  EXPECT_EQ(*facts_of_build(Tool::kSanitize, request, built).find("starved"), Value(false));
}

TEST(Tools, Sanitize_ProgramThatEndsEarly_IsNotFoundFree) {
  const Examination found =
      examined(Tool::kSanitize, "add_relu", "#include <unistd.h>\n" + add_relu("_exit(0);"));
  EXPECT_EQ(*found.facts.find("status"), Value(0)) << to_json(found.facts);
  EXPECT_EQ(*found.facts.find("finished"), Value(false)) << to_json(found.facts);
}

TEST(Tools, Disassemble_SourceThatLooksForTheArtifact_ShowsTheCodeThatRuns) {
  const Examination found = examined(
      Tool::kDisassemble, "add_relu",
      "#if __has_include(\"artifact.so\")\nextern \"C\" void decoy() {}\n#endif\n" + kRightSum);
  for (const Value& block : found.facts.find("blocks")->as_array())
    EXPECT_EQ(*block.find("function"), Value("add_relu")) << to_json(found.facts);
}

const std::string kStridedTranspose =
    "#include <cstdint>\nextern \"C\" void transpose(const float* x, float* out, int64_t rows, "
    "int64_t cols) {\n  for (int64_t c = 0; c < cols; ++c)\n    for (int64_t r = 0; r < rows; "
    "++r)\n      out[c * rows + r] = x[r * cols + c];\n}\n";

/// Judged with its profile: what comes first of what is said.
std::string first_finding(const std::string& task, const std::string& source) {
  const Examination found = examined(Tool::kProfile, task, source);
  EXPECT_TRUE(found.verdict && found.verdict->speedup)
      << (found.verdict ? found.verdict->reason : "no verdict");
  const Value* findings = found.facts.find("findings");
  if (findings == nullptr || findings->as_array().empty()) return "";
  return findings->as_array()[0].as_string();
}

TEST(Tools, Profile_StridedLoop_IsNamedFirst) {
  EXPECT_THAT(first_finding("transpose", kStridedTranspose),
              HasSubstr("is not vectorized: it reads or writes memory with a stride."));
}

TEST(Tools, Profile_LoopWithCalls_IsNamedFirst) {
  const std::string source =
      "#include <cmath>\n#include <cstdint>\nextern \"C\" void softmax(const float* x, float* out, "
      "int64_t rows, int64_t cols) {\n  for (int64_t r = 0; r < rows; ++r) {\n    const float* row "
      "= x + r * cols;\n    float m = row[0], s = 0;\n    for (int64_t c = 0; c < cols; ++c) m = "
      "row[c] > m ? row[c] : m;\n    for (int64_t c = 0; c < cols; ++c) {\n      out[r * cols + c] "
      "= std::exp(row[c] - m);\n      s += out[r * cols + c];\n    }\n    for (int64_t c = 0; c < "
      "cols; ++c) out[r * cols + c] /= s;\n  }\n}\n";
  EXPECT_THAT(first_finding("softmax", source),
              HasSubstr("The innermost loop at lines 8 to 10 has 1 function call in 1"));
}

TEST(Tools, Profile_VectorizedKernel_IsNotCalledScalarOrStrided) {
  const Examination found = examined(Tool::kProfile, "add_relu", kRightSum);
  const std::string findings = joined_texts(*found.facts.find("findings"));
  for (const char* fault : {"not vectorized", "stride", "function call", "gather", "division"})
    EXPECT_EQ(findings.find(fault), std::string::npos) << findings;
}

TEST(Tools, Profile_HasTimesAndShares) {
  const Examination found = examined(Tool::kProfile, "add_relu", kRightSum);
  const double bytes = least_bytes(*machine().task("add_relu"));
  EXPECT_EQ(found.facts.find("bytes")->as_double(), bytes) << to_json(found.facts);
  EXPECT_GT(found.facts.find("time_us")->as_double(), 0);
  EXPECT_GT(found.facts.find("memory_share")->as_double(), 0);
  EXPECT_GT(found.facts.find("cycles_per_output")->as_double(), 0);
  EXPECT_EQ(found.facts.find("flops")->as_double(), 2 * 2097152.0);
  EXPECT_GT(found.facts.find("flops_share")->as_double(), 0);
  EXPECT_LT(found.facts.find("flops_share")->as_double(), 1);
  EXPECT_THAT(joined_texts(*found.facts.find("findings")),
              HasSubstr("A call has to move at least"));
}

/// The verdict of a step.
Result<Verdict> stepped(const std::string& task, const std::string& source, bool profile) {
  Submission s = submission(task, source);
  s.profile = profile;
  return judge_and_wait(machine().evaluator(), std::move(s));
}

TEST(Tools, Step_WithProfile_HasFindings) {
  const auto with = stepped("transpose", kStridedTranspose, true);
  ASSERT_TRUE(with && with->speedup) << (with ? with->reason : with.error().message);
  ASSERT_FALSE(with->findings.empty());
  EXPECT_THAT(with->findings[0], HasSubstr("it reads or writes memory with a stride"));
  const auto without = stepped("transpose", kStridedTranspose, false);
  ASSERT_TRUE(without) << without.error().message;
  EXPECT_TRUE(without->findings.empty());
  const auto wrong = stepped("add_relu", add_relu("out[0] = 1;"), true);
  ASSERT_TRUE(wrong) << wrong.error().message;
  EXPECT_EQ(wrong->outcome, Outcome::kWrong);
  EXPECT_TRUE(wrong->findings.empty());
}

/// Lines that the assembler skips and that a reader of its text sees.
std::string skipped_by_the_assembler(const std::string& lines) {
  return "asm(\".if 0\\n" + lines + ".endif\\n\");\n";
}

TEST(Tools, Profile_HostileAssemblerText_IsNamedAndTheKernelStillJudged) {
  std::string lines;
  for (int i = 1; i <= 100; ++i)
    lines += ".file " + std::to_string(i) + " \\\"submission.cpp\\\"\\n";
  const Examination found =
      examined(Tool::kProfile, "add_relu", skipped_by_the_assembler(lines) + kRightSum);
  ASSERT_TRUE(found.verdict && found.verdict->speedup);
  EXPECT_THAT(joined_texts(*found.facts.find("left_out")),
              HasSubstr("the source has more than 64 file numbers"));
  const auto step =
      stepped("add_relu", skipped_by_the_assembler(lines) + kRightSum + "// again\n", true);
  ASSERT_TRUE(step && step->speedup);
  EXPECT_THAT(step->findings, testing::Contains(HasSubstr("The report on the code left out")));
}

TEST(Tools, Hardware_DescribesTheProcessor) {
  const Examination found = examined(Tool::kHardware, "add_relu", "");
  EXPECT_GT(found.facts.find("clock_hz")->as_double(), 1e8);
  EXPECT_GT(found.facts.find("dram_bytes_per_second")->as_double(), 1e8);
  EXPECT_THAT(found.facts.find("fingerprint")->as_string(), HasSubstr("test machine"));
}

}  // namespace
}  // namespace hone
