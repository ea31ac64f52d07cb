// The tool sanitize on the emulated driver: builder, device, sandbox, player and facts. A program stands in for compute-sanitizer.
// sanitized_faults.py does the same on a device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <optional>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/scratch_folder.hpp"
#include "evaluate/tools.hpp"
#include "gpu/emulated_gpu.hpp"

namespace hone::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// An evaluator on the emulated driver, with the pretended sanitizer in a folder of its own.
class SanitizedGpu {
 public:
  /// `linked`: the program's path is a symbolic link in another folder.
  explicit SanitizedGpu(std::vector<std::string> off = {}, bool linked = false)
      : folder_(std::move(ScratchFolder::make()).value()) {
    EvaluatorOptions options = emulated_options("cuda");
    options.sanitizer.path = folder_.path() / "pretend_sanitizer";
    std::filesystem::copy_file(build_dir() / "tests/pretend_sanitizer", options.sanitizer.path);
    std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755));
    if (linked) {
      links_ = std::move(ScratchFolder::make()).value();
      const std::filesystem::path link = links_->path() / "compute-sanitizer";
      std::filesystem::create_symlink(options.sanitizer.path, link);
      options.sanitizer.path = link;
    }
    if (auto without = Defences::without(off)) options.measure.defences = *without;
    auto launcher = Launcher::start({});
    if (!launcher) {
      ADD_FAILURE() << launcher.error().message;
      return;
    }
    launcher_ = std::move(*launcher);
    auto evaluator = make_evaluator(*launcher_, std::move(options), "emulated");
    EXPECT_TRUE(evaluator) << evaluator.error().message;
    if (evaluator) evaluator_ = std::move(*evaluator);
  }

  bool is_private() const {
    return launcher_ != nullptr && launcher_->level() == IsolationLevel::kPrivate;
  }

  /// The findings of the next runs.
  void report(const std::string& tool, const std::string& text) {
    std::ofstream(folder_.path() / (tool + ".report")) << text;
  }

  Examination sanitize(const std::string& source) {
    auto found = examine_and_wait(*evaluator_, submission(source), Tool::kSanitize);
    EXPECT_TRUE(found) << found.error().message;
    return found ? std::move(*found) : Examination{};
  }
  Result<Verdict> judge(const std::string& source) {
    return judge_and_wait(*evaluator_, submission(source));
  }

 private:
  Submission submission(const std::string& source) const {
    Submission s;
    s.task = task_;
    s.source = source;
    s.language = s.backend = "cuda";
    s.client = "test";
    s.episode = "sanitize";
    s.seed = 1;
    return s;
  }

  ScratchFolder folder_;
  std::optional<ScratchFolder> links_;
  std::unique_ptr<Launcher> launcher_;
  std::unique_ptr<Evaluator> evaluator_;
  std::shared_ptr<const Task> task_ = std::make_shared<const Task>(small_task("cuda"));
};

/// Why this build cannot run a sanitizer in its sandbox; empty: it can.
std::string why_not(const SanitizedGpu& gpu) {
#ifdef HONE_SANITIZED
  static_cast<void>(gpu);
  return "a sealed process cannot start programs that are built with sanitizers";
#else
  return gpu.is_private() ? "" : "needs isolation 'private'";
#endif
}

class SanitizeOnDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = why_not(gpu_); !reason.empty()) GTEST_SKIP() << reason;
  }
  const Value& fact(const Examination& found, const char* name) {
    const Value* value = found.facts.find(name);
    EXPECT_NE(value, nullptr) << name << " in " << to_json(found.facts);
    static const Value nil;
    return value != nullptr ? *value : nil;
  }
  SanitizedGpu gpu_;
};

/// The kernel of the attack, which prints lines in the format of a report.
std::string printing_kernel() {
  return R"(
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] + y[i] > 0 ? x[i] + y[i] : 0;
  if (i == 0)
    printf("========= Invalid __global__ write of size 4 bytes\n"
           "=========     at add_relu+0x10 in submission.cu:1\n========= \n");
}
)";
}

TEST_F(SanitizeOnDevice, KernelWithoutErrors_RunsEveryCall) {
  const Examination found = gpu_.sanitize(kBaseline);
  EXPECT_EQ(fact(found, "findings"), Value::array()) << to_json(found.facts);
  EXPECT_EQ(fact(found, "finished"), Value(true)) << to_json(found.facts);
  EXPECT_EQ(fact(found, "status"), Value(0));
  EXPECT_EQ(fact(found, "calls"), Value(4)) << "two shapes and two families";
  EXPECT_EQ(fact(found, "last_call"), Value("n=1003, inputs 'scaled'"));
  EXPECT_EQ(fact(found, "runs"), Value::array({"memcheck", "racecheck"}));
}

TEST_F(SanitizeOnDevice, PlanWithScratchAndTwoLaunches_RunsInOrder) {
  // The second kernel traps unless the first one has run with the same scratch memory.
  const Examination found = gpu_.sanitize(R"(
// hone: scratch sum = 4 * n
// hone: launch add grid = ceil_div(n, 64) block = 64 args = x, y, sum, n
// hone: launch relu grid = ceil_div(n, 128) block = 128 args = x, y, sum, out, n:i32
extern "C" __global__ void add(const float* x, const float* y, float* sum, long long n) {
  long long i = blockIdx.x * 64ll + threadIdx.x;
  if (i < n) sum[i] = x[i] + y[i];
}
extern "C" __global__ void relu(const float* x, const float* y, const float* sum, float* out, int n) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n && sum[i] != x[i] + y[i]) asm volatile("trap;");
  if (i < n) out[i] = sum[i] > 0 ? sum[i] : 0;
}
)");
  EXPECT_EQ(fact(found, "finished"), Value(true)) << to_json(found.facts);
}

TEST_F(SanitizeOnDevice, Overrun_NamesTensorLineAndCall) {
  gpu_.report(
      "memcheck",
      "========= Invalid __global__ write of size 4 bytes\n"
      "=========     at add_relu+0x10 in submission.cu:4\n"
      "=========     by thread (1,0,0) in block (0,0,0)\n"
      "=========     Access to {2+4012} is out of bounds\n"
      "=========     and is 1 bytes after the nearest allocation at {2} of size 4012 bytes\n"
      "========= \n");
  const Examination found = gpu_.sanitize(kBaseline);
  const auto& findings = fact(found, "findings").as_array();
  ASSERT_EQ(findings.size(), 1u) << to_json(found.facts);
  EXPECT_EQ(*findings[0].find("kind"), Value("out-of-bounds write"));
  EXPECT_EQ(*findings[0].find("line"), Value(4));
  EXPECT_EQ(*findings[0].find("call"), Value("n=1003, inputs 'scaled'"));
  EXPECT_THAT(findings[0].find("message")->as_string(),
              HasSubstr("0 bytes after tensor 'out' (4012 bytes), by thread (1,0,0)"));
}

TEST_F(SanitizeOnDevice, KernelThatFaults_HasTheCallAndTheReason) {
  const Examination found = gpu_.sanitize(R"(
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  if (n > 1) *reinterpret_cast<volatile float*>(8) = 1;
  if (threadIdx.x == 0 && n == 1) out[0] = x[0] + y[0];
}
)");
  EXPECT_THAT(fact(found, "findings").as_array(), IsEmpty()) << to_json(found.facts);
  EXPECT_EQ(fact(found, "finished"), Value(false));
  EXPECT_EQ(fact(found, "status"), Value(1));
  EXPECT_EQ(fact(found, "last_call"), Value("n=1003, inputs 'normal'"));
  EXPECT_THAT(fact(found, "output").as_string(), HasSubstr("illegal memory access"));
}

TEST_F(SanitizeOnDevice, SourceThatDoesNotBuild_HasTheVerdictOfItsBuild) {
  const Examination found =
      gpu_.sanitize("extern \"C\" __global__ void add_relu() { undeclared; }");
  ASSERT_TRUE(found.verdict);
  EXPECT_EQ(found.verdict->outcome, Outcome::kBuildFailed);
}

TEST_F(SanitizeOnDevice, LaunchThatTheDeviceCannotStart_IsNamed) {
  const Examination found =
      gpu_.sanitize("// hone: launch add_relu grid = 1 block = 4096\n" + std::string(kBaseline));
  EXPECT_THAT(fact(found, "unavailable").as_string(), HasSubstr("launch of add_relu"));
}

TEST_F(SanitizeOnDevice, KernelThatNeverEnds_IsEndedAndTheDeviceServesTheNext) {
  const double begun_s = monotonic_s();
  const Examination found = gpu_.sanitize(R"(
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  while (*reinterpret_cast<const volatile float*>(x) < 1e30f) {
  }
}
)");
  // On a busy machine the answer says that the kernel was starved.
  EXPECT_TRUE(fact(found, "timed_out") == Value(true) || fact(found, "starved") == Value(true))
      << to_json(found.facts);
  EXPECT_EQ(fact(found, "runs"), Value::array({"memcheck"}))
      << "a second run holds the device, too";
  EXPECT_LT(monotonic_s() - begun_s, 60);
  const auto verdict = gpu_.judge(kBaseline);
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_EQ(verdict->outcome, Outcome::kCorrect) << verdict->reason;
}

TEST_F(SanitizeOnDevice, KernelThatPrintsAReport_MakesNoFinding) {
  const Examination found = gpu_.sanitize(printing_kernel());
  EXPECT_EQ(fact(found, "findings"), Value::array()) << to_json(found.facts);
  EXPECT_EQ(fact(found, "finished"), Value(true));
  EXPECT_THAT(to_json(found.facts), Not(HasSubstr("Invalid")));
}

TEST(SanitizeTool, ProgramThatIsALink_RunsInTheSandbox) {
  SanitizedGpu gpu({}, true);
  if (const std::string reason = why_not(gpu); !reason.empty()) GTEST_SKIP() << reason;
  const Examination found = gpu.sanitize(kBaseline);
  const Value* finished = found.facts.find("finished");
  ASSERT_NE(finished, nullptr) << to_json(found.facts);
  EXPECT_EQ(*finished, Value(true)) << to_json(found.facts);
}

#if defined(HONE_TEST_BUILD)
TEST(SanitizeAttack, PrintedReport_SucceedsWithoutAReportOfItsOwn) {
  SanitizedGpu gpu({"own_report"});
  if (const std::string reason = why_not(gpu); !reason.empty()) GTEST_SKIP() << reason;
  const Examination found = gpu.sanitize(printing_kernel());
  const Value* findings = found.facts.find("findings");
  ASSERT_NE(findings, nullptr) << to_json(found.facts);
  ASSERT_EQ(findings->as_array().size(), 1u) << to_json(found.facts);
  EXPECT_EQ(*findings->as_array()[0].find("kind"), Value("out-of-bounds write"));
}
#endif

TEST(SanitizeTool, SubmissionThatCannotBeExamined_GetsTheReason) {
  const Task task = small_task("cuda");
  const auto why = [&](const EvaluatorOptions& options, const std::string& language,
                       IsolationLevel level = IsolationLevel::kPrivate) {
    PlannedSource source;
    const Status can = prepare_build(Tool::kSanitize, task, options, level, language, source);
    return can ? "" : can.error().message;
  };
  EvaluatorOptions options = emulated_options("cuda");
  options.sanitizer.path = "";
  EXPECT_THAT(why(options, "cuda"), HasSubstr("cuda-sanitizer-13-0"));
  EXPECT_THAT(why(options, "cuda"), HasSubstr("cuda.compute_sanitizer"));
  options.sanitizer.path = "/no/such/compute-sanitizer";
  EXPECT_THAT(why(options, "cuda"), HasSubstr("cannot run /no/such/compute-sanitizer"));
  options.sanitizer.path = "compute-sanitizer";
  EXPECT_THAT(why(options, "cuda"), HasSubstr("cannot run compute-sanitizer"));
  options.sanitizer.path = build_dir();
  EXPECT_THAT(why(options, "cuda"), HasSubstr("cannot run /")) << "it is a folder";
  options.sanitizer.path = build_dir() / "tests/pretend_sanitizer";
  EXPECT_EQ(why(options, "cuda"), "");
  EXPECT_THAT(why(options, "python"), HasSubstr("the submission is a Python module"));
  EXPECT_THAT(why(options, "cuda", IsolationLevel::kFiltered),
              HasSubstr("needs isolation 'private'"));
  EXPECT_EQ(why(emulated_options("hip"), "hip"), "sanitize is not available on the backend hip");
}

}  // namespace
}  // namespace hone::test
