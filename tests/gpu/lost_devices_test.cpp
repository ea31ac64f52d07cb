// Devices that fail while a server uses them: submissions go to the others, and the server can end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>

#include "gpu/comes_about.hpp"
#include "gpu/emulated_device_folder.hpp"
#include "gpu/emulated_gpu.hpp"
#include "model/verdict.hpp"

namespace hone::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class LostDevices : public testing::Test {
 protected:
  void start(int devices) {
    folder_.set_devices(devices);
    EvaluatorOptions options = emulated_options("cuda");
    options.backend_library = folder_.path() / "backend_cuda_emulated.so";
    for (int i = 1; i < devices; ++i) {
      options.devices.push_back(options.devices.front());
      options.devices.back().index = i;
    }
    launcher_ = std::move(Launcher::start({})).value();
    auto evaluator = make_evaluator(*launcher_, std::move(options), "emulated");
    ASSERT_TRUE(evaluator) << evaluator.error().message;
    evaluator_ = std::move(*evaluator);
  }
  std::future<Result<Verdict>> submit() {
    Submission s;
    s.task = task_;
    s.source = kBaseline;
    s.language = s.backend = "cuda";
    s.client = "test";
    s.episode = std::to_string(++episodes_);
    s.seed = 1;
    auto promise = std::make_shared<std::promise<Result<Verdict>>>();
    auto future = promise->get_future();
    auto done = [promise](Result<Verdict> found) { promise->set_value(std::move(found)); };
    const auto id = evaluator_->submit(
        std::move(s), [](Stage) {}, done);
    if (!id) done(id.error());
    return future;
  }

  EmulatedDeviceFolder folder_;
  std::unique_ptr<Launcher> launcher_;
  std::unique_ptr<Evaluator> evaluator_;
  const std::shared_ptr<const Task> task_ = std::make_shared<const Task>(small_task("cuda"));
  int episodes_ = 0;
};

/// Each client waits for its answer, so both devices get submissions.
TEST_F(LostDevices, DeviceOfTwoFails_ItsSubmissionsAreJudgedByTheOther) {
  start(2);
  folder_.let_fail("1");
  ASSERT_EQ(folder_.kill_judges(1), 1);
  const auto problems = [this] { return evaluator_->problems(); };
  for (int round = 0; round < 100 && problems().empty(); ++round) {
    std::vector<std::future<Result<Verdict>>> verdicts;
    for (int i = 0; i < 4; ++i) verdicts.push_back(submit());
    for (auto& verdict : verdicts) {
      const Result<Verdict> found = verdict.get();
      ASSERT_TRUE(found) << found.error().message;
      EXPECT_EQ(found->outcome, Outcome::kCorrect) << found->reason;
    }
  }
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("device 1")));
  folder_.let_fail("");
  EXPECT_TRUE(comes_about([&] { return problems().empty(); })) << "it is tried again";
}

TEST_F(LostDevices, AllDevicesFail_SubmissionIsAFaultAndNoReward) {
  start(2);
  folder_.let_fail("0 1");
  ASSERT_EQ(folder_.kill_judges(), 2);
  const Result<Verdict> found = submit().get();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Code::kUnavailable);
}

TEST_F(LostDevices, JudgeThatHangsAtItsStart_DoesNotDelayTheEnd) {
  start(1);
  folder_.let_hang("0");
  ASSERT_EQ(folder_.kill_judges(), 1);
  auto verdict = submit();
  ASSERT_TRUE(comes_about([&] { return !folder_.judges().empty(); }));
  const auto begun = std::chrono::steady_clock::now();
  evaluator_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, kLong / 2) << "its limit is 120 s";
  EXPECT_FALSE(verdict.get());
}

}  // namespace
}  // namespace hone::test
