// Modules that several lanes check on one device at the same time.
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <optional>
#include <thread>
#include <vector>

#include "modules/device_folder.hpp"
#include "places.hpp"

namespace hone::test {
namespace {

constexpr std::size_t kLanes = 3;

Result<std::unique_ptr<Machine>> machine_with_lanes() {
  EvaluatorOptions options = device_options();
  add_lanes(options, kLanes);
  options.installed_max = kLanes;  // one of each
  HONE_TRY(use_interpreter("cuda.python", std::getenv("HONE_MODULES_PYTHON"), options));
  return Machine::start(std::move(options));
}

class DeviceModuleLanes : public BesideADevice {
 protected:
  /// Judged all at once; what differs from what is expected, by name.
  std::vector<std::string> judged_at_once(const std::vector<Case>& cases) {
    const auto machine = machine_with_lanes();
    EXPECT_TRUE(machine.ok()) << machine.error().message;
    std::vector<std::string> differences(cases.size(), "no machine");
    if (!machine) return differences;
    waits_ms_.assign(cases.size(), 0);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      threads.emplace_back([&, i] {
        auto task = module_task(cases[i].task);
        if (!task) return;
        const auto text = read_file((kHere / "submissions" / (cases[i].name + ".py")).string());
        const auto verdict = (*machine)->judge(std::make_shared<const Task>(std::move(*task)),
                                               text ? *text : "", 7 + i, "python", "cuda");
        differences[i] = difference(verdict, cases[i].expected);
        if (verdict) waits_ms_[i] = verdict->stage_ms.at("wait");
        if (!differences[i].empty()) differences[i] = cases[i].name + ": " + differences[i];
      });
    }
    for (std::thread& thread : threads) thread.join();
    return differences;
  }

  std::vector<double> waits_ms_;  // each case's, for the others
};

TEST_F(DeviceModuleLanes, SeveralLanes_GiveTheVerdictsOfOne) {
  const std::vector<Case> cases = {
      {"model", timed(is(kCorrect))},
      {"library_linear", timed(is(kCorrect))},
      {"wrapper", timed(is(kCorrect))},
      {"triton_model", timed(is(kCorrect))},
      {"wrong_slope", is(kWrong, "output out is wrong")},
      {"raises", is(kCrashed, "(submission.py:16)")},
      {"other_shape", is(kWrong, "output out has shape [16, 8], expected [8, 16]")},
      {"other_names", timed(is(kCorrect))},
      {"no_parameters", is(kCrashed, "ModelNew has no parameter for fc.weight [16, 16]")},
  };
  for (const std::string& difference : judged_at_once(cases)) EXPECT_EQ(difference, "");
  EXPECT_GT(*std::max_element(waits_ms_.begin(), waits_ms_.end()), 0);
}

Submission honest_submission(const std::string& client) {
  Submission submission;
  submission.backend = "cuda";
  submission.task = std::make_shared<const Task>(linear_of(8, "linear"));
  submission.source = text_of_file(kHere / "submissions/model.py");
  submission.language = "python";
  submission.client = submission.episode = client;
  submission.seed = 7;
  submission.deadline_s = 120;
  return submission;
}

/// The first submission keeps its device until the second one has its verdict.
TEST_F(DeviceModuleLanes, SecondDevice_JudgesWhileTheFirstIsBusy) {
  DeviceFolder folder;
  folder.set_devices(2);
  EvaluatorOptions options = folder.options(1);
  options.devices.push_back(options.devices.front());
  options.devices.back().index = 1;
  const auto machine = machine_of(std::move(options));
  ASSERT_TRUE(machine.ok()) << machine.error().message;
  Evaluator& evaluator = (*machine)->evaluator();
  std::optional<Result<Verdict>> second;
  std::promise<Result<Verdict>> done;
  const auto begun = evaluator.submit(
      honest_submission("first"),
      [&](Stage stage) {
        if (stage == Stage::kChecking && !second)
          second = judge_and_wait(evaluator, honest_submission("second"));
      },
      [&](Result<Verdict> verdict) { done.set_value(std::move(verdict)); });
  ASSERT_TRUE(begun) << begun.error().message;
  EXPECT_EQ(difference(done.get_future().get(), timed(is(kCorrect))), "");
  ASSERT_TRUE(second);
  EXPECT_EQ(difference(*second, timed(is(kCorrect))), "");
  const Value stats = evaluator.stats();
  const Value& by_device = *stats.find("by_device");
  for (const char* number : {"0", "1"}) {
    const Value* uses = by_device.find(number);
    ASSERT_NE(uses, nullptr) << to_json(by_device);
    EXPECT_LE(uses->find("evaluations")->as_int(), 1) << to_json(by_device);
    EXPECT_GT(uses->find("busy_s")->as_double(), 0) << to_json(by_device);
  }
}

}  // namespace
}  // namespace hone::test
