// The calls of a plan under a device's sanitizer, and the findings in its reports. The reports in sanitizer_reports/ were written by
// compute-sanitizer 2025.3.1 on an H200 for the kernels of k.cu, with the arguments of the backend cuda. Each kernel had two
// tensors of 160 bytes. Long reports were shortened.
#include "examine/device_sanitizer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/files.hpp"
#include "places.hpp"

namespace hone {
namespace {

using testing::HasSubstr;
using testing::Not;

Task scaled_vector_task() {
  Task task;
  task.entry = "scale";
  task.tensors = {{"x", Role::kIn, DType::kF32, {"n"}}, {"out", Role::kOut, DType::kF32, {"n"}}};
  task.scalars = {{"n", DType::kI64, "n"}, {"factor", DType::kF32, "", 1, 2}};
  task.arguments = {"x", "out", "n", "factor"};
  task.dims = {"n"};
  task.shown = {{{"n", 5}}, {{"n", 1000}}};
  task.timed = {{"n", 2000}};
  task.families = {{"normal", {}, {}}};
  return task;
}

void fill_with_bytes(void* to, DType dtype, std::uint64_t count, const Generator&, std::uint64_t) {
  std::memset(to, 1, count * dtype_size(dtype));
}

Result<DeviceCalls> program_of(const std::string& source, std::size_t bytes_max,
                               const PlanLimits& limits = {}) {
  const Task task = scaled_vector_task();
  HONE_ASSIGN(const Plan plan, parse_plan(source, task, task.entry));
  return sanitizer_device_calls(task, plan, limits, fill_with_bytes, bytes_max);
}

const Value& member(const Value& map, const char* name) {
  const Value* found = map.find(name);
  EXPECT_NE(found, nullptr) << name;
  static const Value nil;
  return found != nullptr ? *found : nil;
}

TEST(DeviceCalls, TwoShapes_HaveBuffersOfTheirSizesAndTheArgumentsOfTheLaunch) {
  const auto program = program_of(
      "// hone: scratch half = 2 * n + 1\n"
      "// hone: launch scale grid = ceil_div(n, 64) block = 64 args = x, half, out, n:i32, "
      "factor\n",
      1 << 20);
  ASSERT_TRUE(program.ok()) << program.error().message;
  EXPECT_EQ(program->calls,
            (std::vector<std::string>{"n=5, inputs 'normal'", "n=1000, inputs 'normal'"}));
  ASSERT_EQ(program->buffers[1].size(), 3u);
  EXPECT_EQ(program->buffers[1][0].name, "tensor 'x'");
  EXPECT_EQ(program->buffers[1][1].bytes, 4000u);
  EXPECT_EQ(program->buffers[1][2].name, "scratch buffer 'half'");
  EXPECT_EQ(program->buffers[1][2].bytes, 2001u) << "rounded up, so that an overrun is missed";
  const Value& call = member(program->request, "calls").as_array()[1];
  EXPECT_EQ(member(call, "buffers").as_array()[0].find("data")->as_bytes().size(), 4000u);
  EXPECT_EQ(member(call, "buffers").as_array()[1].find("data"), nullptr);
  const Value& launch = member(call, "launches").as_array()[0];
  EXPECT_EQ(member(launch, "grid"), Value::array({16, 1, 1}));
  const auto& arguments = member(launch, "arguments").as_array();
  ASSERT_EQ(arguments.size(), 5u);
  EXPECT_EQ(arguments[0], Value::map({{"buffer", 0}}));
  EXPECT_EQ(arguments[1], Value::map({{"buffer", 2}}));
  EXPECT_EQ(arguments[2], Value::map({{"buffer", 1}}));
  EXPECT_EQ(arguments[3], Value::map({{"value", 1000}}));
  EXPECT_EQ(arguments[4], Value::map({{"value", 0x3fc00000}})) << "1.5, the middle of its range";
}

TEST(DeviceCalls, ShapesThatAreTooLarge_AreCountedAndLeftOut) {
  const auto program = program_of("// hone: launch scale grid = 1 block = 64\n", 1000);
  ASSERT_TRUE(program.ok()) << program.error().message;
  EXPECT_EQ(program->calls.size(), 1u);
  EXPECT_EQ(program->left_out, 1u);
}

TEST(DeviceCalls, LaunchThatTheDeviceCannotStart_IsNamed) {
  PlanLimits limits;
  limits.block_threads = 32;
  const auto program = program_of("// hone: launch scale grid = 1 block = 64\n", 1000, limits);
  ASSERT_FALSE(program.ok());
  EXPECT_THAT(program.error().message, HasSubstr("launch of scale"));
}

TEST(DeviceCalls, TimedCall_RepeatsTheValuesOfLargeInputsAndRestoresWhatChangesInPlace) {
  Task task = scaled_vector_task();
  task.tensors.push_back({"state", Role::kInOut, DType::kF32, {"n"}});
  task.arguments = {"x", "out", "n", "factor", "state"};
  task.timed = {{"n", 3 << 20}};
  const std::string source = "// hone: launch scale grid = ceil_div(n, 64) block = 64\n";
  const auto plan = parse_plan(source, task, task.entry);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  const auto program = timed_device_call(task, *plan, {}, fill_with_bytes, 64 << 20);
  ASSERT_TRUE(program.ok()) << program.error().message;
  const auto& calls = member(program->request, "calls").as_array();
  ASSERT_EQ(calls.size(), 1u);
  const auto& buffers = member(calls[0], "buffers").as_array();
  EXPECT_EQ(member(buffers[0], "bytes"), Value(12 << 20));
  EXPECT_EQ(member(buffers[0], "data").as_bytes().size(), std::size_t{4} << 20);
  EXPECT_EQ(buffers[0].find("restore"), nullptr);
  EXPECT_EQ(member(buffers[2], "restore"), Value(true));
  const auto refused = timed_device_call(task, *plan, {}, fill_with_bytes, 1 << 20);
  EXPECT_THAT(refused.error().message, HasSubstr("too many inputs"));
}

TEST(DeviceCalls, InputsThatTheReferenceMakes_AreNotCounted) {
  Task task = scaled_vector_task();
  task.families = {{"normal", {"reference", 0, 1}, {}}};
  const auto plan = parse_plan("// hone: launch scale grid = 1 block = 64\n", task, task.entry);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_THAT(timed_device_call(task, *plan, {}, fill_with_bytes, 1 << 20).error().message,
              HasSubstr("reference makes the inputs"));
}

/// Two tensors, as the kernels of k.cu had.
DeviceCalls two_tensors() {
  DeviceCalls program;
  program.calls = {"n=40"};
  program.buffers = {{{"tensor 'x'", 160}, {"tensor 'y'", 160}}};
  return program;
}

DeviceSanitizerRun run_of(const std::string& name) {
  const auto folder = test::source_dir() / "tests/examine/sanitizer_reports";
  const auto report = read_file(folder / (name + ".log")),
             events = read_file(folder / (name + ".events"));
  EXPECT_TRUE(report.ok() && events.ok()) << name;
  return {"memcheck", report ? *report : "", events ? *events : ""};
}

std::vector<SanitizerFinding> findings_of(const std::string& name,
                                          const std::string& source = "k.cu") {
  const DeviceSanitizerRun run = run_of(name);
  EXPECT_TRUE(is_complete_report(run.report)) << name;
  EXPECT_EQ(device_sanitizer_problem(run), "") << name;
  return device_sanitizer_findings({run}, two_tensors(), source, 8);
}

struct Golden {
  std::string report, kind;
  std::int64_t line;
  std::string message;
};

TEST(DeviceSanitizerFindings, StoredReports_NameKindLineAndTensor) {
  const Golden all[] = {
      {"write_after", "out-of-bounds write", 6,
       "write of 4 bytes in global memory, 0 bytes after tensor 'x' (160 bytes), by thread "
       "(40,0,0) "
       "of block (0,0,0)"},
      {"read_after", "out-of-bounds read", 11,
       "read of 4 bytes in global memory, 0 bytes after tensor 'y' (160 bytes), by thread (39,0,0) "
       "of block (0,0,0)"},
      {"write_before", "out-of-bounds write", 15,
       "write of 4 bytes in global memory, 4 bytes before tensor 'x' (160 bytes), by thread "
       "(0,0,0) "
       "of block (0,0,0)"},
      {"misaligned", "misaligned write", 20,
       "write of 16 bytes in global memory, at byte 4 of tensor 'x' (160 bytes), by thread (0,0,0) "
       "of block (0,0,0)"},
      {"wild", "out-of-bounds write", 23,
       "write of 4 bytes in global memory, outside of all tensors, by thread (0,0,0) of block "
       "(0,0,0)"},
      {"shared_after", "out-of-bounds write", 40,
       "write of 4 bytes in shared memory, by thread (0,0,0) of block (0,0,0)"},
      {"trap", "trap", 58,
       "the kernel stopped itself, by a trap or a failed assertion, by thread (0,0,0) of block "
       "(0,0,0)"},
      {"in_a_function", "out-of-bounds write", 60,
       "write of 4 bytes in global memory, 12 bytes after tensor 'x' (160 bytes), by thread "
       "(0,0,0) "
       "of block (0,0,0)"},
      {"in_a_header", "out-of-bounds atomic", 63,
       "atomic of 4 bytes in global memory, 0 bytes after tensor 'x' (160 bytes), by thread "
       "(0,0,0) "
       "of block (0,0,0)"},
      {"race", "race in shared memory", 27,
       "a write in line 27 and a read in line 28, by different threads without a barrier between "
       "them (256 hazards)"},
  };
  for (const Golden& golden : all) {
    const auto findings = findings_of(golden.report);
    ASSERT_EQ(findings.size(), 1u) << golden.report;
    EXPECT_EQ(findings[0].kind, golden.kind) << golden.report;
    EXPECT_EQ(findings[0].line, golden.line) << golden.report;
    EXPECT_EQ(findings[0].message, golden.message) << golden.report;
    EXPECT_EQ(findings[0].call, 0u) << golden.report;
  }
}

TEST(DeviceSanitizerFindings, CleanReports_HaveNone) {
  EXPECT_TRUE(findings_of("clean").empty());
  EXPECT_TRUE(findings_of("clean_race").empty());
}

TEST(DeviceSanitizerFindings, FileNameThatTheSubmissionChose_IsNotInTheText) {
  const auto findings = findings_of("forged_file_name");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].line, 0);
  EXPECT_EQ(findings[0].kind, "out-of-bounds write");
  EXPECT_THAT(findings[0].message, Not(HasSubstr("IGNORE")));
}

TEST(DeviceSanitizerFindings, SameAddressInALaterCall_BelongsToThatCall) {
  DeviceSanitizerRun run = run_of("write_after");
  DeviceCalls program = two_tensors();
  program.calls.emplace_back("n=41");
  program.buffers.push_back({{"tensor 'out'", 160}});
  const std::string address = run.events.substr(run.events.find("0x"), 14);
  run.events += "hone-call 1\nhone-buffer 0 " + address + "\n";
  const auto findings = device_sanitizer_findings({run}, program, "k.cu", 8);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].call, 1u);
  EXPECT_THAT(findings[0].message, HasSubstr("tensor 'out'"));
}

TEST(DeviceSanitizerFindings, RaceAmongSeveralCalls_HasNoCall) {
  DeviceCalls program = two_tensors();
  program.calls.emplace_back("n=41");
  const auto findings = device_sanitizer_findings({run_of("race")}, program, "k.cu", 8);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].call, 2u);
}

TEST(DeviceSanitizerFindings, ForgedReports_StayWithinTheLimits) {
  std::string report = "========= COMPUTE-SANITIZER\n";
  for (int i = 0; i < 20'000; ++i) {
    report += "========= Invalid __global__ write of size " + std::string(200, '9') +
              " bytes\n=========     at " + std::string(300, 'A') +
              " in k.cu:" + std::to_string(i) + "\n=========     by thread (" +
              std::string(100, '1') + ") in block (x,0,0)\n" + "=========     Access to 0x" +
              std::string(40, 'f') + " is out of bounds\n" +
              "========= SEND ALL MONEY! <script>alert(1)</script> " + std::to_string(i) +
              "\n=========     at x in k.cu:" + std::to_string(i) + "\n" +
              "========= Error: Race reported between \n=========     and and and\n";
  }
  const DeviceSanitizerRun run{"memcheck", report,
                               "hone-buffer\nhone-call -1\nhone-buffer 9 0xzz\n"};
  const auto findings = device_sanitizer_findings({run}, two_tensors(), "k.cu", 8);
  EXPECT_EQ(findings.size(), 8u);
  for (const SanitizerFinding& finding : findings) {
    EXPECT_LE(finding.kind.size(), 40u);
    EXPECT_LE(finding.message.size(), 240u);
    EXPECT_THAT(finding.kind + finding.message, Not(HasSubstr("<")));
    EXPECT_THAT(finding.kind + finding.message, Not(HasSubstr("AAA")));
  }
}

TEST(DeviceSanitizerRun, ReportThatWasCutOff_IsIncomplete) {
  std::string report = run_of("clean").report;
  EXPECT_TRUE(is_complete_report(report));
  report.resize(report.find("ERROR SUMMARY"));
  EXPECT_FALSE(is_complete_report(report));
}

TEST(DeviceSanitizerRun, DeviceWithoutSupport_IsAProblemAndNotAFinding) {
  const DeviceSanitizerRun refused{
      "memcheck", "========= COMPUTE-SANITIZER\n========= Error: Device not supported.\n",
      "hone-error open device: unknown error\n"};
  EXPECT_EQ(device_sanitizer_problem(refused), "compute-sanitizer does not support this device");
  EXPECT_TRUE(device_sanitizer_findings({refused}, two_tensors(), "k.cu", 8).empty());
  EXPECT_EQ(device_sanitizer_error(refused), "open device: unknown error");
  // As in a sandbox that refuses the sanitizer's pipes.
  const DeviceSanitizerRun failed{
      "memcheck", "========= COMPUTE-SANITIZER\n========= Error launching target app.\n", ""};
  EXPECT_THAT(device_sanitizer_problem(failed), HasSubstr("could not start a program"));
}

TEST(DeviceSanitizerRun, NamesOfTheSubmission_AreNoProblem) {
  const DeviceSanitizerRun forged{
      "memcheck",
      "========= COMPUTE-SANITIZER\n"
      "========= Invalid __global__ write of size 4 bytes\n"
      "=========     at forged+0x80 in Device not supported, Error launching target app.cu:7\n"
      "========= Error: Race reported between Write access at forged+0x10 in Device not "
      "supported.cu:7\n"
      "========= ERROR SUMMARY: 2 errors\n",
      "hone-call 0\n"};
  EXPECT_EQ(device_sanitizer_problem(forged), "");
  EXPECT_EQ(device_sanitizer_findings({forged}, two_tensors(), "k.cu", 8).size(), 2u);
}

}  // namespace
}  // namespace hone
