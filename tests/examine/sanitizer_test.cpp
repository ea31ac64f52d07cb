// The program that calls a submission under the sanitizers, and the findings in its output.
#include "examine/sanitizer.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace hone {
namespace {

Task scale_task() {
  Task task;
  task.entry = "scale";
  task.tensors = {{"x", Role::kIn, DType::kF32, {"n"}}, {"out", Role::kOut, DType::kF32, {"n"}}};
  task.scalars = {{"n", DType::kI64, "n"}, {"factor", DType::kF32, "", 1, 2}};
  task.arguments = {"x", "out", "n", "factor"};
  task.shown = {{{"n", 5}}, {{"n", 1000}}};
  task.families = {{"normal", {}, {}}};
  return task;
}

void fill_with_ones(void* to, DType dtype, std::uint64_t count, const Generator&, std::uint64_t) {
  std::memset(to, 1, count * dtype_size(dtype));
}

TEST(SanitizerProgram, TwoShapes_CallsTheEntryForEachWithBuffersOfItsSize) {
  const auto program = sanitizer_program(scale_task(), fill_with_ones, 1 << 20);
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(program->calls,
            (std::vector<std::string>{"n=5, inputs 'normal'", "n=1000, inputs 'normal'"}));
  EXPECT_EQ(program->inputs.size(), 5 * 4 + 1000 * 4u);
  EXPECT_NE(program->driver.find("extern void scale(void*, void*, int64_t, float);"),
            std::string::npos);
  EXPECT_NE(program->driver.find("scale(t0_x, t0_out, INT64_C(5), 0x1.8p+0);"), std::string::npos);
  EXPECT_NE(program->driver.find("buffer(\"out\", 8, 4000, 0)"), std::string::npos);
}

TEST(SanitizerProgram, ShapesThatAreTooLarge_AreCountedAndLeftOut) {
  const auto program = sanitizer_program(scale_task(), fill_with_ones, 1000);
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(program->calls.size(), 1u);
  EXPECT_EQ(program->left_out, 1u);
}

TEST(SanitizerProgram, InputsMadeByTheReference_AreRefused) {
  Task task = scale_task();
  task.families[0].fallback.kind = kByReference;
  EXPECT_EQ(sanitizer_program(task, fill_with_ones, 1000).error().code, Code::kFailedPrecondition);
}

TEST(SanitizerFindings, HeapOverflow_NamesTheTensorAndTheLine) {
  const auto findings = sanitizer_findings(
      "hone-call 1\nhone-buffer x 0x602000000040 20\n"
      "==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000054 at pc 0x1 bp "
      "0x2\n"
      "READ of size 4 at 0x602000000054 thread T0\n"
      "    #0 0x55 in scale /tmp/build/submission.cpp:7\n"
      "    #1 0x56 in main driver.c:9\n"
      "0x602000000054 is located 0 bytes to the right of 20-byte region "
      "[0x602000000040,0x602000000054)\n"
      "allocated by thread T0 here:\n    #0 0x57 in posix_memalign\n    #2 0x58 "
      "submission.cpp:99\n",
      "submission.cpp", 8);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, "heap-buffer-overflow");
  EXPECT_EQ(findings[0].line, 7);
  EXPECT_EQ(findings[0].call, 1u);
  EXPECT_EQ(findings[0].message, "READ of size 4, 0 bytes after tensor 'x' (20 bytes)");
}

TEST(SanitizerFindings, UndefinedBehaviour_CountsOnceForALine) {
  const std::string line =
      "submission.cpp:12:9: runtime error: signed integer overflow: 2147483647 + 1 cannot be "
      "represented in type 'int'\n";
  const auto findings = sanitizer_findings(line + line, "submission.cpp", 8);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, "signed integer overflow");
  EXPECT_EQ(findings[0].line, 12);
}

TEST(SanitizerFindings, ForgedOutput_StaysWithinTheLimits) {
  std::string output;
  for (int i = 1; i < 5000; ++i)
    output += "submission.cpp:" + std::to_string(i) +
              ":1: runtime error: " + std::string(500, 'x') + "\nhone-buffer b" +
              std::to_string(i) + " 0x1 1\n";
  output += "hone-call -5\nhone-buffer\nhone-buffer x\n#0 submission.cpp:\n is located [\n";
  const auto findings = sanitizer_findings(output, "submission.cpp", 8);
  EXPECT_EQ(findings.size(), 8u);
  for (const SanitizerFinding& finding : findings) EXPECT_LE(finding.message.size(), 240u);
}

TEST(SanitizerFindings, ManyRegionsAfterTheLimit_DoNotMakeAMessageLonger) {
  std::string output = "hone-buffer " + std::string(100'000, 'A') + " Z 1\nhone-buffer b Y 1\n";
  for (int i = 0; i < 3000; ++i)
    output += "ERROR: AddressSanitizer: x" + std::to_string(i) +
              "\nQ is located 1 bytes to the left of [Z,\nQ is located [Y,\n";
  for (const SanitizerFinding& finding : sanitizer_findings(output, "submission.cpp", 8))
    EXPECT_LE(finding.message.size(), 240u);
}

}  // namespace
}  // namespace hone
