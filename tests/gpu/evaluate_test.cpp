// Evaluations of device code on the emulated driver: builder, judge, candidates, clock and verdict.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "gpu/emulated_gpu.hpp"
#include "model/caught.hpp"
#include "plugin/fixtures.hpp"

namespace hone::test {
namespace {

class EmulatedGpu {
 public:
  explicit EmulatedGpu(const std::string& backend, std::vector<std::string> off = {},
                       const std::string& isolation = "client",
                       const std::filesystem::path& folder = build_dir() / "tests/gpu")
      : backend_(backend) {
    EvaluatorOptions options = emulated_options(backend);
    options.isolation = isolation;
    options.backend_library = folder / ("backend_" + backend + "_emulated.so");
    if (auto without = Defences::without(off)) options.measure.defences = *without;
    auto launcher = Launcher::start({});
    if (!launcher) {
      fail(launcher.error());
      return;
    }
    launcher_ = std::move(*launcher);
    auto evaluator = make_evaluator(*launcher_, std::move(options), "emulated");
    if (!evaluator) {
      fail(evaluator.error());
      return;
    }
    evaluator_ = std::move(*evaluator);
  }

  Result<Verdict> judge(const std::string& source, const std::string& client = "test") {
    if (evaluator_ == nullptr) return unavailable("not started");
    Submission submission;
    submission.task =
        task_ != nullptr ? task_ : task_ = std::make_shared<const Task>(small_task(backend_));
    submission.source = source;
    submission.language = submission.backend = backend_;
    submission.client = client;
    submission.episode = "test";
    submission.seed = ++seed_;
    return judge_and_wait(*evaluator_, std::move(submission));
  }
  void set_task(Task task) { task_ = std::make_shared<const Task>(std::move(task)); }
  std::string fingerprint() const { return evaluator_ ? evaluator_->fingerprint() : ""; }

 private:
  void fail(const Error& error) { ADD_FAILURE() << error.message; }

  const std::string backend_;
  std::unique_ptr<Launcher> launcher_;
  std::unique_ptr<Evaluator> evaluator_;
  std::shared_ptr<const Task> task_;
  std::uint64_t seed_ = 0;
};

EmulatedGpu& shared(const std::string& backend) {
  static std::map<std::string, std::unique_ptr<EmulatedGpu>> all;
  auto& one = all[backend];
  if (one == nullptr) one = std::make_unique<EmulatedGpu>(backend);
  return *one;
}

std::string kernel(const std::string& body, const std::string& plan = "") {
  return plan +
         "extern \"C\" __global__ void add_relu(const float* x, const float* y, float* out, "
         "long long n) {\n  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n" +
         body + "\n}\n";
}

class DeviceCode : public testing::TestWithParam<std::string> {
 protected:
  Verdict judge(const std::string& source) {
    auto verdict = shared(GetParam()).judge(source);
    EXPECT_TRUE(verdict) << verdict.error().message;
    return verdict ? *verdict : Verdict();
  }
};

TEST_P(DeviceCode, CorrectSubmissions_AreTimedInOneProcess) {
  for (int i = 0; i < 3; ++i) {
    const Verdict verdict = judge(kBaseline + std::string(static_cast<std::size_t>(i), '\n'));
    EXPECT_EQ(verdict.outcome, Outcome::kCorrect) << verdict.reason;
    ASSERT_TRUE(verdict.speedup);
    EXPECT_GT(verdict.speedup->time_us, 0);
  }
}

TEST_P(DeviceCode, PlansWithScratchAndSeveralLaunches_Run) {
  const Verdict verdict = judge(R"(
// hone: scratch sum = 4 * n
// hone: launch add<64> grid = ceil_div(n, 64) block = 64 args = x, y, sum, n
// hone: launch relu grid = ceil_div(n, 128) block = 128 shared = 4 * 128 args = sum, out, n:i32
template <int B> __global__ void add(const float* x, const float* y, float* sum, long long n) {
  long long i = blockIdx.x * (long long)B + threadIdx.x;
  if (i < n) sum[i] = x[i] + y[i];
}
extern "C" __global__ void relu(const float* sum, float* out, int n) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = sum[i] > 0 ? sum[i] : 0;
}
)");
  EXPECT_EQ(verdict.outcome, Outcome::kCorrect) << verdict.reason << verdict.diagnostics;
}

TEST_P(DeviceCode, CallThatNeverEnds_IsStoppedAfterAMultipleOfTheBaseline) {
  EmulatedGpu device(GetParam());
  Task task = small_task(GetParam());
  task.run_seconds = 3;
  const auto reason = [&](double slowdown_max) {
    task.slowdown_max = slowdown_max;
    task.id = "slowdown_" + std::to_string(slowdown_max);
    device.set_task(task);
    const auto verdict =
        device.judge(kernel("for (volatile int never = 0; never == 0;) continue;"));
    EXPECT_TRUE(verdict) << verdict.error().message;
    if (!verdict) return std::string();
    EXPECT_EQ(verdict->outcome, Outcome::kTimedOut) << verdict->reason;
    return verdict->reason;
  };
  EXPECT_EQ(reason(2).rfind("over 1 s for one call (", 0), 0u) << reason(2);
  EXPECT_EQ(reason(0).rfind("over the task's time in a check of ", 0), 0u) << reason(0);
}

TEST_P(DeviceCode, WrongSubmission_ReasonHasThePlace) {
  const Verdict verdict = judge(kernel("if (i < n) out[i] = x[i] + y[i];"));
  EXPECT_EQ(verdict.outcome, Outcome::kWrong);
  ASSERT_TRUE(verdict.mismatch);
  EXPECT_EQ(verdict.mismatch->tensor, "out");
  EXPECT_GT(verdict.mismatch->wrong, 0);
}

TEST_P(DeviceCode, FailedBuild_ReportsItsLine) {
  const Verdict verdict = judge(kernel("if (i < n) out[i] = undeclared;"));
  EXPECT_EQ(verdict.outcome, Outcome::kBuildFailed);
  EXPECT_NE(verdict.diagnostics.find("undeclared"), std::string::npos) << verdict.diagnostics;
}

TEST_P(DeviceCode, PlanMistake_ReportsItsLine) {
  const Verdict typo = judge(kernel("", "// hone: launch add_relu grdi = 1 block = 32\n"));
  EXPECT_EQ(typo.outcome, Outcome::kBuildFailed);
  EXPECT_NE(typo.diagnostics.find(":1:"), std::string::npos) << typo.diagnostics;
  EXPECT_NE(typo.diagnostics.find("did you mean 'grid'?"), std::string::npos) << typo.diagnostics;
  const Verdict large = judge(kernel("", "// hone: launch add_relu grid = 1 block = 4 * n\n"));
  EXPECT_EQ(large.outcome, Outcome::kCrashed);
  EXPECT_NE(large.reason.find("expected"), std::string::npos) << large.reason;
}

TEST_P(DeviceCode, IllegalAccess_EndsItsProcessAndNoOther) {
  const Verdict crash = judge(kernel("out[i + (1ll << 40)] = 1;"));
  EXPECT_EQ(crash.outcome, Outcome::kCrashed);
  EXPECT_NE(crash.reason.find("illegal"), std::string::npos) << crash.reason;
  EXPECT_EQ(judge(kBaseline).outcome, Outcome::kCorrect);
}

TEST_P(DeviceCode, WriteOutside_IsDetected) {
  const Verdict verdict = judge(
      kernel("if (i < n) out[i] = x[i] + y[i] > 0 ? x[i] + y[i] : 0; if (i == 0) out[n] = 7;"));
  EXPECT_EQ(verdict.outcome, Outcome::kWrong);
  EXPECT_EQ(verdict.caught, caught::kWroteOutside);
}

TEST_P(DeviceCode, ChangedInput_IsDetected) {
  const Verdict verdict = judge(
      kernel("if (i < n) { out[i] = x[i] + y[i] > 0 ? x[i] + y[i] : 0; ((float*)x)[i] = 0; }"));
  EXPECT_EQ(verdict.outcome, Outcome::kWrong);
  EXPECT_EQ(verdict.caught, caught::kChangedInputs);
}

void copy_backends(const std::filesystem::path& to) {
  std::filesystem::permissions(to, std::filesystem::perms(0755));
  for (const auto& entry : std::filesystem::directory_iterator(build_dir() / "tests/gpu")) {
    if (entry.path().extension() == ".so")
      std::filesystem::copy_file(entry.path(), to / entry.path().filename());
  }
}

/// A backend whose libraries are in its folder is found in any folder: sandboxes show it, and
/// builders may read it.
TEST_P(DeviceCode, BackendFolder_MayBeAnywhere) {
  const TemporaryFolder folder;
  copy_backends(folder.path());
  EmulatedGpu moved(GetParam(), {}, "fresh", folder.path());
  const auto verdict = moved.judge(kBaseline);
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_EQ(verdict->outcome, Outcome::kCorrect) << verdict->reason << verdict->diagnostics;
}

/// What device code leaves in its process is seen by the next submission of the client, where processes
/// are kept; not where it reaches all of their memory, which is when none is.
TEST_P(DeviceCode, DeviceCodeThatReachesHostMemory_NoProcessIsKept) {
  const std::string fill = kernel(
      "if (i < n) out[i] = x[i] + y[i] > 0 ? x[i] + y[i] : 0;\n"
      "  for (size_t bytes = 1u << 20; i == 0 && bytes >= 64; bytes /= 2) while (malloc(bytes)) "
      "{}");
  const std::string need = kernel(
      "if (i < n) out[i] = x[i] + y[i] > 0 ? x[i] + y[i] : 0;\n"
      "  if (i == 0) { void* some = malloc(256); if (some == 0) out[0] = -7; free(some); }");
  for (const bool reaches : {false, true}) {
    const TemporaryFolder folder;
    copy_backends(folder.path());
    if (reaches) std::ofstream(folder.path() / "emulated_pageable") << "yes";
    EmulatedGpu gpu(GetParam(), {"own_heap", "known_answer"}, "client", folder.path());
    const auto filled = gpu.judge(fill), found = gpu.judge(need);
    ASSERT_TRUE(filled) << filled.error().message;
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(filled->outcome, Outcome::kCorrect) << filled->reason << filled->diagnostics;
    EXPECT_EQ(found->outcome, reaches ? Outcome::kCorrect : Outcome::kWrong) << found->reason;
  }
}

/// The judge asks when it opens the device and after every pair of rounds; it drops three pairs at most.
TEST(Throttling, AllPairsThrottled_SetsTheFlag) {
  for (const std::string heat : {"hot", "warm"}) {
    const TemporaryFolder folder;
    copy_backends(folder.path());
    std::filesystem::rename(folder.path() / ("libhone_emulated_nvml_" + heat + ".so"),
                            folder.path() / "libhone_emulated_nvml.so");
    EmulatedGpu gpu("cuda", {}, "client", folder.path());
    const auto verdict = gpu.judge(kBaseline);
    ASSERT_TRUE(verdict) << verdict.error().message;
    EXPECT_EQ(verdict->outcome, Outcome::kCorrect) << verdict->reason << verdict->diagnostics;
    ASSERT_TRUE(verdict->speedup);
    EXPECT_GE(verdict->speedup->rounds, quick_options().measure.pairs_min);
    const auto& flags = verdict->speedup->flags;
    EXPECT_EQ(std::count(flags.begin(), flags.end(), "throttled"), heat == "hot" ? 1 : 0) << heat;
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, DeviceCode, testing::Values("cuda", "hip"),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace hone::test
