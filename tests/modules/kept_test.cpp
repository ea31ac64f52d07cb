// Python submissions that share a process on a device with earlier ones.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "modules/device_case.hpp"

#if defined(HONE_TEST_BUILD)
namespace hone::test {
namespace {

/// One kind of sharing, and the defences that are off.
struct Sharing {
  std::string isolation;
  std::vector<std::string> off;
  auto operator<=>(const Sharing&) const = default;
};

/// The machine that shares so, kept between tests; null where it cannot be started.
Machine* machine_that_shares(const Sharing& sharing) {
  static std::map<Sharing, std::unique_ptr<Machine>> sitting;
  auto& machine = sitting[sharing];
  if (machine != nullptr) return machine.get();
  EvaluatorOptions options = device_options();
  options.module_isolation = sharing.isolation;
  const auto defences = Defences::without(sharing.off);
  EXPECT_TRUE(defences.ok());
  options.measure.defences = *defences;
  const Status python = use_interpreter("cuda.python", std::getenv("HONE_MODULES_PYTHON"), options);
  EXPECT_TRUE(python.ok()) << python.error().message;
  auto started = Machine::start(std::move(options));
  EXPECT_TRUE(started.ok()) << started.error().message;
  if (started) machine = std::move(*started);
  return machine.get();
}

/// Submissions one after the other, of a client of its own for each test.
class DeviceModulesKept : public BesideADevice {
 protected:
  Machine* find_machine() override {
    set_up_log(LogLevel::kInfo, false);
    auto task = module_task("linear");
    EXPECT_TRUE(task.ok()) << task.error().message;
    if (task) task_ = std::make_shared<const Task>(std::move(*task));
    return machine_that_shares(sharing());
  }
  /// Without asking whether the device stands still, nor looking twice at a new best, which takes a process: what an
  /// emulated one does takes as long as others leave it.
  virtual Sharing sharing() const { return {"client", {"second_look", "stand_still"}}; }
  std::string difference_of(const fs::path& file, const Expected& expected,
                            const std::string& episode = "one") {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    Machine* machine = machine_that_shares(sharing());
    if (machine == nullptr || task_ == nullptr) return "no machine";
    Submission submission;
    submission.backend = "cuda";
    submission.task = task_;
    submission.source = text_of_file(file) + "\n# " + std::to_string(++count_) + "\n";
    submission.language = "python";
    submission.client = test->name();
    submission.episode = episode;
    submission.seed = 7;
    const std::int64_t before = processes_of(*machine);
    const auto verdict = judge_and_wait(machine->evaluator(), std::move(submission));
    taken_ += processes_of(*machine) - before;
    return difference(verdict, expected);
  }
  static std::int64_t processes_of(const Machine& machine) {
    const Value stats = machine.evaluator().stats();
    return stats.find("module_processes")->as_int();
  }

  std::shared_ptr<const Task> task_;
  int count_ = 0;
  std::int64_t taken_ = 0;  ///< processes, by submissions of this test
};
class DeviceModulesOfAnEpisode : public DeviceModulesKept {
  Sharing sharing() const override { return {"episode", DeviceModulesKept::sharing().off}; }
};
class DeviceModulesByDefault : public DeviceModulesKept {
  Sharing sharing() const override {
    return {EvaluatorOptions().module_isolation, {"second_look"}};
  }
};

const fs::path kModel = kHere / "submissions/model.py",
               kWrongSlope = kHere / "submissions/wrong_slope.py";

TEST_F(DeviceModulesKept, SubmissionsOfAClient_ShareAProcess) {
  for (const char* episode : {"one", "two"})
    EXPECT_EQ(difference_of(kModel, timed(is(kCorrect)), episode), "");
  EXPECT_EQ(taken_, 1);
  EXPECT_EQ(difference_of(kHere / "submissions/triton_model.py", timed(is(kCorrect))), "");
  EXPECT_EQ(taken_, 1);
}

TEST_F(DeviceModulesOfAnEpisode, SubmissionsOfAnEpisode_ShareAProcess) {
  for (const char* episode : {"one", "two", "one"})
    EXPECT_EQ(difference_of(kModel, timed(is(kCorrect)), episode), "");
  EXPECT_EQ(taken_, 2);
}

TEST_F(DeviceModulesByDefault, DefaultIsolation_SubmissionsShareNoProcess) {
  for (int i = 0; i < 2; ++i) EXPECT_EQ(difference_of(kModel, timed(is(kCorrect))), "");
  EXPECT_EQ(taken_, 2);
}

/// What a process that others have used says against a submission counts once a fresh one says it.
TEST_F(DeviceModulesKept, WrongSubmission_IsConfirmedInANewProcess) {
  EXPECT_EQ(difference_of(kModel, timed(is(kCorrect))), "");
  EXPECT_EQ(difference_of(kWrongSlope, is(kWrong, "output out is wrong")), "");
  EXPECT_EQ(taken_, 2);
  EXPECT_EQ(difference_of(kHere / "submissions/raises.py", is(kCrashed, "(submission.py:16)")), "");
}

/// An extension that is loaded stays; a process that changed torch tells so.
TEST_F(DeviceModulesKept, GiveUpWhatIsNotAsItWas) {
  EXPECT_EQ(difference_of(kHere / "submissions/extension.py", timed(is(kCorrect))), "");
  EXPECT_EQ(difference_of(kHere / "untidy/submission.py", timed(is(kCorrect))), "");
  EXPECT_EQ(taken_, 2);
  testing::internal::CaptureStderr();
  EXPECT_EQ(difference_of(kModel, timed(is(kCorrect))), "");
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(
      log.find(
          "another (kept_process): refused in loading: load: RuntimeError: after the last task "
          "torch."),
      std::string::npos)
      << log;
  EXPECT_EQ(taken_, 3);
}

/// The next submission: honest, and judged as in a fresh process.
struct Leaver {
  std::string name;
  std::string next = "modules/submissions/model.py";
  std::string found;  ///< what is said of the process then, without the defence
  std::string own_kernels = "optional";
  std::string found_on_cuda = found;
};
std::ostream& operator<<(std::ostream& out, const Leaver& one) { return out << one.name; }
const std::vector<Leaver> kLeavers = {
    {"go_on_between", "adversarial/modules_kept/find_it_went_on.py",
     "RuntimeError: it went on between two submissions"},
    {"spoil_torch", "modules/submissions/library_linear.py", "wrong, output out is wrong"},
    {"never_answer", "modules/submissions/model.py",
     "(kept_process): fault in loading: send setup: "},
    {.name = "keep_the_device", .found = ""},
    {"accuse", "modules/submissions/triton_model.py", "(kept_process): rejected, ", "required",
     "(kept_process): died in "},
};

class DeviceModulesThatLeave : public DeviceModulesKept,
                               public testing::WithParamInterface<Leaver> {
 protected:
  Sharing sharing() const override { return {"client", {}}; }
  std::string log_of_them() {
    if (task_ == nullptr) return "no task";
    Task task = *task_;
    task.own_kernels = GetParam().own_kernels;
    task_ = std::make_shared<const Task>(std::move(task));
    testing::internal::CaptureStderr();
    const fs::path tests = test::source_dir() / "tests";
    const Expected honest = slower_than(on_cuda() ? kFaster : 1e9);  // emulated times mean nothing
    EXPECT_EQ(difference_of(tests / "adversarial/modules_kept" / (GetParam().name + ".py"), honest),
              "");
    for (int i = 0; i < 2; ++i) EXPECT_EQ(difference_of(tests / GetParam().next, honest), "");
    return testing::internal::GetCapturedStderr();
  }
};
TEST_P(DeviceModulesThatLeave, LeftoverState_AffectsNoLaterSubmission) {
  const std::string log = log_of_them();
  EXPECT_EQ(log.find("it went on"), std::string::npos) << log;
}
class DeviceModulesThatLeaveMore : public DeviceModulesThatLeave {
  Sharing sharing() const override { return DeviceModulesKept::sharing(); }
};
TEST_P(DeviceModulesThatLeaveMore, LeftoverState_IsDetectedWithoutTheDefence) {
  if (GetParam().found.empty()) GTEST_SKIP() << "only a device goes on by itself";
  const std::string log = log_of_them();
  const std::string& found = on_cuda() ? GetParam().found_on_cuda : GetParam().found;
  EXPECT_NE(log.find(found), std::string::npos) << log;
}
TEST(KeptModuleTables, NameEachFile) {
  std::set<std::string> files, named;
  for (const auto& entry :
       fs::directory_iterator(test::source_dir() / "tests/adversarial/modules_kept"))
    files.insert(entry.path().stem().string());
  for (const Leaver& one : kLeavers) {
    named.insert(one.name);
    if (const fs::path next = one.next; next.parent_path() == "adversarial/modules_kept")
      named.insert(next.stem().string());
  }
  EXPECT_EQ(files, named);
}
std::string leaver_name(const testing::TestParamInfo<Leaver>& one) { return one.param.name; }
INSTANTIATE_TEST_SUITE_P(Modules, DeviceModulesThatLeave, testing::ValuesIn(kLeavers), leaver_name);
INSTANTIATE_TEST_SUITE_P(Modules, DeviceModulesThatLeaveMore, testing::ValuesIn(kLeavers),
                         leaver_name);

}  // namespace
}  // namespace hone::test
#endif
