// Python modules on a device (device_case.hpp).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/log.hpp"
#include "model/caught.hpp"
#include "modules/device_case.hpp"
#include "places.hpp"

namespace hone::test {
namespace {

const fs::path kDeviceAttacks = test::source_dir() / "tests/adversarial/modules_device";
constexpr int kRaces = 4;                          // that one who has to win one may lose
constexpr double kSlowed = 1.6, kNotSlowed = 1.3;  // a baseline that does the same
const std::vector<Case> kSubmissions = {
    {"model", timed(is(kCorrect))},
    {"library_linear", timed(is(kCorrect))},
    {"other_names", timed(is(kCorrect))},
    {"wrapper", timed(is(kCorrect))},
    {"triton_model", timed(is(kCorrect))},
    {"in_place", timed(is(kCorrect)), {}, {}, "in_place"},
    {"out_of_place", timed(is(kCorrect)), {}, {}, "in_place"},
    {"temporary_file", is(kCorrect)},
    {"wrong_slope", is(kWrong, "output out is wrong")},
    {"other_shape", is(kWrong, "output out has shape [16, 8], expected [8, 16]")},
    {"no_parameters", is(kCrashed, "ModelNew has no parameter for fc.weight [16, 16]")},
    {"syntax", is(kBuildFailed, "submission.py:4:")},
    {"raises", is(kCrashed, "(submission.py:16)")},
    {"missing_import",
     is(kCrashed, "No module named 'a_module_that_is_not_there' (submission.py:3) while loading")},
    {"told_of_the_device", is(kCrashed, "_multiprocessors' (submission.py:5) while loading")},
    {"extension", timed(is(kCorrect))},
    {"extension_late", timed(is(kCorrect))},
    {"extension_refused",
     is(kBuildFailed,
        "main.cpp:4: error: 'a_name_that_is_not_there' was not declared in this "
        "scope (submission.py:8)")},
    {"extension_unreached",
     is(kCrashed, "Hindered (host): load_inline needs a C++ compiler, found no /not/there")},
    {"extension_undefined", is(kBuildFailed, "undefined reference to `twice(at::Tensor)'")},
};

const std::vector<Case> kCheats = {
    {.name = "done_said_early",
     .expected = {{kWrong, kCheated}},
     .off = {"witness"},
     .without = {{kCorrect}},
     .races = true},
    {"hog_the_core", slower_than(kFaster)},
    {"slow_the_baseline", slower_than(kFaster)},
    {"a_fault_of_hones", is(kCrashed)},
    {"end_itself", is(kCrashed)},
    {"leave_a_process", timed(is(kCorrect))},
    {"reach_out", is(kCrashed, "nothing was found")},
    {"speak_for_the_rehearsal", is(kCrashed, "?[31m?? forged")},
    {"outlive_the_rehearsal", timed(is(kCorrect))},
    {"claim_no_compiler", is(kCrashed, "it was asked all the same")},
    {"hindered_by_name", is(kCrashed, "Hindered (host): load_inline needs")},
    {"hindered_by_flag", is(kCrashed, "load_inline needs a C++ compiler")},
    {"extension_that_reads", is(kCrashed, "nothing was found")},
    {"mention_an_extension", is(kCrashed, "exited with code 0")},
    {"claim_a_kernel",
     timed(is(kCorrect, "without a device it started no kernel of its own")),
     {"second_witness"},
     timed(is(kCorrect)),
     "linear",
     "required"},
    {"refuse_to_be_watched",
     is(kRejected, "its own kernels were not seen"),
     {},
     {},
     "linear",
     "required"},
};

std::string judged(const fs::path& folder, const Case& one, const std::vector<std::string>& off,
                   const Expected& expected) {
  return judged(device_machine(off), "cuda", folder, one, expected);
}

class DeviceModules : public BesideADevice, public testing::WithParamInterface<Case> {};
std::string name_of(const testing::TestParamInfo<Case>& info) { return info.param.name; }

class DeviceModuleSubmissions : public DeviceModules {};
TEST_P(DeviceModuleSubmissions, Submission_GetsTheExpectedVerdict) {
  EXPECT_EQ(judged(kHere / "submissions", GetParam(), {}, GetParam().expected), "");
}
INSTANTIATE_TEST_SUITE_P(Modules, DeviceModuleSubmissions, testing::ValuesIn(kSubmissions),
                         name_of);

class DeviceModuleBaselines : public DeviceModules {};
TEST_P(DeviceModuleBaselines, TaskWithACompiledBaseline_IsJudgedAndLogged) {
  set_up_log(LogLevel::kInfo, false);
  testing::internal::CaptureStderr();
  EXPECT_EQ(judged(kHere / "submissions", GetParam(), {}, GetParam().expected), "");
  const std::string log = testing::internal::GetCapturedStderr();
  // On a busy machine, torch.compile may exceed its time limit. test_baseline.py tests that case.
  const bool is_logged =
      log.find("task compiled: its baseline is compiled by torch.compile: eager ") !=
          std::string::npos ||
      log.find("compiling takes more than") != std::string::npos;
  EXPECT_TRUE(is_logged) << log;
}
INSTANTIATE_TEST_SUITE_P(Modules, DeviceModuleBaselines,
                         testing::Values(Case{.name = "many_steps",
                                              .expected = timed(is(kCorrect)),
                                              .task = "compiled"}),
                         name_of);

class DeviceModuleWork : public DeviceModules {
 protected:
  static Work work_of(const fs::path& file, const std::vector<std::string>& off) {
    auto task = module_task("linear");
    EXPECT_TRUE(task.ok()) << task.error().message;
    const auto verdict = device_machine(off)->judge(std::make_shared<const Task>(std::move(*task)),
                                                    text_of_file(file), 7, "python", "cuda");
    EXPECT_TRUE(verdict.ok()) << verdict.error().message;
    EXPECT_TRUE(verdict.ok() && verdict->work) << (verdict.ok() ? verdict->reason : "");
    return verdict.ok() && verdict->work ? *verdict->work : Work();
  }
};
TEST_P(DeviceModuleWork, Work_HasTheDryRunsKernelsToo) {
  const Work work = work_of(kHere / "submissions" / (GetParam().name + ".py"), {});
  ASSERT_TRUE(work.dry_run);
  EXPECT_EQ(work.agrees(), true) << operator_words(work) << "; " << operator_words(*work.dry_run);
  const fs::path liar = kDeviceAttacks / "claim_a_kernel.py";
  EXPECT_EQ(work_of(liar, {}).agrees(), false);
#if defined(HONE_TEST_BUILD)
  EXPECT_FALSE(work_of(liar, {"second_witness"}).agrees());
#endif
}
INSTANTIATE_TEST_SUITE_P(Modules, DeviceModuleWork,
                         testing::Values(Case{.name = "model", .expected = {}}), name_of);

int count_of(const std::string& text, const std::string& words) {
  int count = 0;
  for (auto at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++count;
  return count;
}

/// The reference submitted to itself, on a machine that keeps one task at a time; one of them changes torch for all that
/// come after it.
class DeviceModuleTasks : public DeviceModules {};
TEST_P(DeviceModuleTasks, NewTask_TakesOverUnchangedProcesses) {
  set_up_log(LogLevel::kDebug, false);
  testing::internal::CaptureStderr();
  EvaluatorOptions options = device_options();
  options.installed_max = 1;
  ASSERT_TRUE(use_interpreter("cuda.python", std::getenv("HONE_MODULES_PYTHON"), options).ok());
  const auto machine = Machine::start(std::move(options));
  ASSERT_TRUE(machine.ok()) << machine.error().message;
  for (const std::string& name :
       {GetParam().name, std::string("noisy"), std::string("untidy"), GetParam().name}) {
    auto task = module_task(name);
    ASSERT_TRUE(task.ok()) << task.error().message;
    const std::string text = text_of_file(kHere / name / "reference.py") + "\nModelNew = Model\n";
    EXPECT_EQ(difference((*machine)->judge(std::make_shared<const Task>(std::move(*task)), text, 7,
                                           "python", "cuda"),
                         timed(is(kCorrect))),
              "")
        << name;
  }
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(count_of(log, "noisy takes over processes of another task"), 1) << log;
  EXPECT_EQ(count_of(log, "untidy takes over processes of another task"), 1) << log;
  EXPECT_EQ(count_of(log, "linear gets processes of its own"), 1) << log;
  EXPECT_EQ(count_of(log, "after the last task torch."), 1) << log;
}
INSTANTIATE_TEST_SUITE_P(Modules, DeviceModuleTasks,
                         testing::Values(Case{.name = "linear", .expected = {}}), name_of);

/// A reference and a baseline that cannot be used, between two submissions to another task.
TEST_P(DeviceModuleTasks, UnusableTask_DoesNotAffectOtherTasks) {
  set_up_log(LogLevel::kDebug, false);
  testing::internal::CaptureStderr();
  EvaluatorOptions options = device_options();
  ASSERT_TRUE(use_interpreter("cuda.python", std::getenv("HONE_MODULES_PYTHON"), options).ok());
  const auto machine = Machine::start(std::move(options));
  ASSERT_TRUE(machine.ok()) << machine.error().message;
  auto task = module_task(GetParam().name);
  ASSERT_TRUE(task.ok()) << task.error().message;
  const auto good = std::make_shared<const Task>(*task);
  const std::string text =
      text_of_file(kHere / GetParam().name / "reference.py") + "\nModelNew = Model\n";
  EXPECT_EQ(difference((*machine)->judge(good, text, 7, "python", "cuda"), timed(is(kCorrect))),
            "");
  for (Source BackendSources::*source : {&BackendSources::reference, &BackendSources::baseline}) {
    Task bad = *good;
    (bad.backends.at("cuda").*source).text += "\nraise RuntimeError('not today')\n";
    const auto verdict =
        (*machine)->judge(std::make_shared<const Task>(bad), text, 7, "python", "cuda");
    ASSERT_FALSE(verdict.ok()) << outcome_name(verdict->outcome);
    EXPECT_THAT(verdict.error().message, testing::HasSubstr("not today"));
    EXPECT_EQ(difference((*machine)->judge(good, text, 8, "python", "cuda"), timed(is(kCorrect))),
              "");
  }
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(count_of(log, "starting a judge"), 1) << log;
}

/// What comes of it where there is too little memory for a compiler of C++, and enough for an interpreter.
Result<Verdict> judged_on_a_lacking_machine(const fs::path& file) {
  EvaluatorOptions options = device_options();
  options.build_memory_mb = 120;
  HONE_TRY(use_interpreter("cuda.python", std::getenv("HONE_MODULES_PYTHON"), options));
  HONE_ASSIGN(const auto machine, Machine::start(std::move(options)));
  HONE_ASSIGN(Task task, module_task("linear"));
  return machine->judge(std::make_shared<const Task>(std::move(task)), text_of_file(file), 7,
                        "python", "cuda");
}

class DeviceModulesOnALackingMachine : public DeviceModules {};
TEST_P(DeviceModulesOnALackingMachine, MachineWithoutCompilers_HonestExtensionIsNotJudged) {
  const auto verdict =
      judged_on_a_lacking_machine(kHere / "submissions" / (GetParam().name + ".py"));
  // If an interpreter needs more than that, the dry run ends, and the extension is built on the device.
  if (verdict.ok() && GetParam().name == "extension" && on_cuda())
    GTEST_SKIP() << "this machine can: " << outcome_name(verdict->outcome);
  ASSERT_FALSE(verdict.ok()) << outcome_name(verdict->outcome) << ": " << verdict->reason;
  EXPECT_THAT(verdict.error().message,
              testing::HasSubstr("a known extension of torch's does not build on this machine"));
}
INSTANTIATE_TEST_SUITE_P(Modules, DeviceModulesOnALackingMachine,
                         testing::Values(Case{.name = "extension", .expected = {}},
                                         Case{.name = "extension_unreached", .expected = {}}),
                         name_of);

class DeviceModuleCheatsOnALackingMachine : public DeviceModules {};
TEST_P(DeviceModuleCheatsOnALackingMachine, MachineWithoutCompilers_FakedFailureIsJudged) {
  const auto verdict = judged_on_a_lacking_machine(kDeviceAttacks / (GetParam().name + ".py"));
  EXPECT_EQ(difference(verdict, GetParam().expected), "");
}
INSTANTIATE_TEST_SUITE_P(Modules, DeviceModuleCheatsOnALackingMachine,
                         testing::Values(Case{.name = "mention_an_extension",
                                              .expected = is(kCrashed, "exited with code 0")},
                                         Case{.name = "hindered_by_name",
                                              .expected = is(kCrashed, "Hindered (host): ")}),
                         name_of);

class DeviceModuleCheats : public DeviceModules {};
TEST_P(DeviceModuleCheats, EveryDefenceOn_AttackIsStopped) {
  std::string difference = "not tried";
  for (int i = 0; i < (GetParam().races ? kRaces : 1) && !difference.empty(); ++i) {
    const auto verdict = verdict_on(device_machine({}), "cuda", kDeviceAttacks, GetParam());
    difference = hone::test::difference(verdict, GetParam().expected);
    // A judge that looked too late for a lie has timed all of the work.
    if (GetParam().races && !difference.empty()) {
      EXPECT_EQ(hone::test::difference(verdict, slower_than(kFaster)), "") << difference;
    }
  }
  EXPECT_EQ(difference, "");
}
INSTANTIATE_TEST_SUITE_P(Modules, DeviceModuleCheats, testing::ValuesIn(kCheats), name_of);

#if defined(HONE_TEST_BUILD)
std::vector<Case> those_that_succeed() {
  std::vector<Case> chosen;
  std::copy_if(kCheats.begin(), kCheats.end(), std::back_inserter(chosen),
               [](const Case& one) { return !one.off.empty(); });
  return chosen;
}
class DeviceModuleCheatsUndefended : public DeviceModules {};
TEST_P(DeviceModuleCheatsUndefended, DefenceOff_AttackSucceeds) {
  if (on_cuda()) GTEST_SKIP() << "how late outputs may come there depends on the reference's time";
  // Some win a race with the judge, not every time.
  std::string difference = "not tried";
  for (int i = 0; i < kRaces && !difference.empty(); ++i)
    difference = judged(kDeviceAttacks, GetParam(), GetParam().off, GetParam().without);
  EXPECT_EQ(difference, "");
}
INSTANTIATE_TEST_SUITE_P(Modules, DeviceModuleCheatsUndefended,
                         testing::ValuesIn(those_that_succeed()), name_of);

/// Emulated work takes no time, so that there is nothing to slow. On a device a round of milliseconds has to be slowed by
/// more than rounds that do nothing then differ by.
class DeviceModuleCheatsOnADevice : public DeviceModules {
 protected:
  void SetUp() override {
    DeviceModules::SetUp();
    if (!IsSkipped() && !on_cuda()) GTEST_SKIP() << "needs a device that does its work in time";
  }
};
TEST_P(DeviceModuleCheatsOnADevice, SlowedBaseline_GainsOnlyWithoutTheDefences) {
  Case honest = GetParam();
  honest.name = "model";
  Expected faster{{kCorrect}};
  faster.speedup_min = kSlowed;
  EXPECT_EQ(judged(kDeviceAttacks, GetParam(), {}, slower_than(kNotSlowed)), "");
  EXPECT_EQ(judged(kHere / "submissions", honest, {}, slower_than(kNotSlowed)), "");
  const std::vector<std::string> off = {"stand_still", "second_look"};
  EXPECT_EQ(judged(kDeviceAttacks, GetParam(), off, faster), "");
  EXPECT_EQ(judged(kHere / "submissions", honest, off, slower_than(kNotSlowed)), "");
}
INSTANTIATE_TEST_SUITE_P(Modules, DeviceModuleCheatsOnADevice,
                         testing::Values(Case{
                             .name = "slow_the_baseline", .expected = {}, .task = "wide"}),
                         name_of);
#endif

TEST(DeviceModuleTables, EachAttackFile_IsInTheTable) {
  std::set<std::string> files, named;
  for (const auto& entry : fs::directory_iterator(kDeviceAttacks))
    files.insert(entry.path().stem().string());
  for (const Case& one : kCheats) named.insert(one.name);
  EXPECT_EQ(files, named);
}

}  // namespace
}  // namespace hone::test
