// Faults at every stage of an evaluation: each is answered within its time limit, and the next submission is
// judged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "modules/device_folder.hpp"

namespace hone::test {
namespace {

using std::chrono::duration;
using testing::HasSubstr;

constexpr double kEvaluationSeconds = 16;
/// A few attempts, each with a task made ready.
constexpr double kAnsweredSeconds = 10 * kEvaluationSeconds;
constexpr const char* kSleep = "\nimport time\ntime.sleep(3)\n";
constexpr const char* kHang = "\nimport time\ntime.sleep(3600)\n";

class DeviceModuleFaults : public BesideADevice {
 protected:
  void SetUp() override {
    BesideADevice::SetUp();
    if (IsSkipped()) return;
    if (on_cuda()) GTEST_SKIP() << "needs an emulated device";
    EvaluatorOptions options = folder_.options(2);
    options.evaluation_seconds = kEvaluationSeconds;
    auto machine = machine_of(std::move(options));
    ASSERT_TRUE(machine.ok()) << machine.error().message;
    machine_ = std::move(*machine);
    expect_judged("before");
  }

  /// The next submission, of a task that was not there before.
  void expect_judged(const std::string& when) {
    const auto verdict = answer_to(linear_of(8, "next " + when), honest_text(), [](Stage) {});
    EXPECT_EQ(difference(verdict, timed(is(kCorrect))), "") << when;
  }

  /// `at_stage` runs in a thread of its own whenever a stage begins.
  Result<Verdict> answer_to(const Task& task, const std::string& text,
                            const std::function<void(Stage)>& at_stage) {
    Submission submission;
    submission.backend = "cuda";
    submission.task = std::make_shared<const Task>(task);
    submission.source = text;
    submission.language = "python";
    submission.client = submission.episode = "test";
    submission.seed = 7;
    auto done = std::make_shared<std::promise<Result<Verdict>>>();
    auto future = done->get_future();
    std::mutex mutex;
    std::vector<std::thread> threads;
    const double begun_s = monotonic_s();
    const auto id = machine_->evaluator().submit(
        std::move(submission),
        [&](Stage stage) {
          const std::lock_guard lock(mutex);
          threads.emplace_back(at_stage, stage);
        },
        [done](Result<Verdict> verdict) { done->set_value(std::move(verdict)); });
    if (!id) return id.error();
    Result<Verdict> verdict = unavailable("no answer in time");
    if (future.wait_for(duration<double>(kAnsweredSeconds)) == std::future_status::ready)
      verdict = future.get();
    else
      ADD_FAILURE() << task.id << ": no answer in " << kAnsweredSeconds << " s";
    std::printf("%s: %.1f s, %s\n", task.id.c_str(), monotonic_s() - begun_s,
                text_of(verdict).c_str());
    machine_->evaluator().cancel(*id);
    const std::lock_guard lock(mutex);
    for (std::thread& thread : threads) thread.join();
    return verdict;
  }

  /// A judge that dies once is replaced: the submission is judged, or the fault is said.
  void expect_no_blame(const Result<Verdict>& verdict) {
    EXPECT_TRUE(!verdict.ok() || verdict->correct()) << text_of(verdict);
  }

  /// Kills the judges this long after the `number`th beginning of the stage.
  std::function<void(Stage)> kill_at(Stage wanted, int number, double later_s) {
    auto seen = std::make_shared<std::atomic<int>>(0);
    return [this, wanted, number, later_s, seen](Stage stage) {
      if (stage != wanted || ++*seen != number) return;
      std::this_thread::sleep_for(duration<double>(later_s));
      killed_ += folder_.kill_judges();
    };
  }

  DeviceFolder folder_;
  std::unique_ptr<Machine> machine_;
  std::atomic<int> killed_{0};
};

Task with_reference(const std::string& id, const char* more) {
  Task task = linear_of(8, id);
  task.backends.at("cuda").reference.text += more;
  return task;
}
Task with_baseline(const std::string& id, const char* more) {
  Task task = linear_of(8, id);
  task.backends.at("cuda").baseline.text += more;
  return task;
}

TEST_F(DeviceModuleFaults, InstallationThatFails_IsAnswered) {
  for (const Task& task : {with_reference("bad reference", "\nraise RuntimeError('not today')\n"),
                           with_baseline("bad baseline", "\nraise RuntimeError('not today')\n")}) {
    const auto verdict = answer_to(task, honest_text(), [](Stage) {});
    ASSERT_FALSE(verdict.ok()) << text_of(verdict);
    EXPECT_THAT(verdict.error().message, HasSubstr("not today"));
    expect_judged("after " + task.id);
  }
}

TEST_F(DeviceModuleFaults, InstallationThatHangs_IsAnsweredWithTheNameOfTheStep) {
  const auto reference =
      answer_to(with_reference("hanging reference", kHang), honest_text(), [](Stage) {});
  ASSERT_FALSE(reference.ok()) << text_of(reference);
  EXPECT_THAT(reference.error().message,
              HasSubstr("s for its judge, in \"install the reference of hanging reference\""));
  expect_judged("after a hanging reference");
  const auto baseline =
      answer_to(with_baseline("hanging baseline", kHang), honest_text(), [](Stage) {});
  ASSERT_FALSE(baseline.ok()) << text_of(baseline);
  EXPECT_THAT(baseline.error().message,
              HasSubstr("s for its judge, in \"install the baseline of hanging baseline\""));
  expect_judged("after a hanging baseline");
}

/// The reference answers the five calls that make it ready, and stops in the checks. A measurement that is cut short may
/// need no more than twenty.
TEST_F(DeviceModuleFaults, ReferenceThatHangsInAnEvaluation_IsAnswered) {
  Task task = linear_of(8, "late");
  std::string& text = task.backends.at("cuda").reference.text;
  text.replace(text.find("    def forward(self, x):"), 0, "    calls = 0\n\n");
  const std::string line = "y = self.fc(x) + self.shift";
  text.replace(text.find(line), 0,
               "Model.calls += 1\n        if Model.calls > 7:\n            import time\n\n"
               "            time.sleep(3600)\n        ");
  const auto verdict = answer_to(task, honest_text(), [](Stage) {});
  EXPECT_FALSE(verdict.ok()) << text_of(verdict);
  expect_judged("after a reference that hangs");
}

TEST_F(DeviceModuleFaults, JudgeKilledInAnInstallation_CostsNoSubmission) {
  expect_no_blame(answer_to(with_reference("slow reference", kSleep), honest_text(),
                            kill_at(Stage::kBuilding, 1, 2)));
  expect_judged("after a judge died while a reference ran");
  expect_no_blame(answer_to(with_baseline("slow baseline", kSleep), honest_text(),
                            kill_at(Stage::kBuilding, 1, 2.5)));
  expect_judged("after a judge died while a baseline ran");
  EXPECT_GE(killed_, 2);
}

TEST_F(DeviceModuleFaults, JudgeKilledInAnEvaluation_CostsNoSubmission) {
  const Task task = linear_of(8, "killed");
  const auto slow = [](const char* what) { return honest_text() + what; };
  expect_no_blame(answer_to(task, slow(kSleep), kill_at(Stage::kChecking, 1, 1)));
  expect_judged("after a judge died in a load");
  std::string text = honest_text();
  text.replace(text.rfind("        return self.right(x)"), 0,
               "        import time\n\n        time.sleep(0.008)\n");
  expect_no_blame(answer_to(task, text, kill_at(Stage::kChecking, 2, 0.1)));
  expect_judged("after a judge died in a check");
  expect_no_blame(answer_to(task, text, kill_at(Stage::kMeasuring, 1, 0.2)));
  expect_judged("after a judge died in a measurement");
  EXPECT_GE(killed_, 3);
}

TEST_F(DeviceModuleFaults, JudgeKilledBetweenSubmissions_IsReplaced) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_GE(folder_.kill_judges(), 1);
    expect_judged("after a judge died, " + std::to_string(i));
  }
}

}  // namespace
}  // namespace hone::test
