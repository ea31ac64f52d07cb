// Lack of device memory: tasks that do not fit together, one that never fits, failed allocations of submissions
// and judges.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "base/log.hpp"
#include "judge/layout.hpp"
#include "modules/device_folder.hpp"

namespace hone::test {
namespace {

using testing::HasSubstr;

constexpr int kLarge = 1 << 16;  // rows: 4 MiB for x, 49 MiB of arenas and copies in all
constexpr std::uint64_t kMiB = 1 << 20;

class DeviceMemoryOfModules : public BesideADevice {
 protected:
  void SetUp() override {
    BesideADevice::SetUp();
    if (!IsSkipped() && on_cuda()) GTEST_SKIP() << "needs a device whose memory a test can limit";
  }
  static Result<Verdict> judge(Machine& machine, const Task& task, const std::string& text) {
    return machine.judge(std::make_shared<const Task>(task), text, 7, "python", "cuda");
  }
};

TEST_F(DeviceMemoryOfModules, TwoTasks_ThatDoNotFitTogether_Alternate) {
  DeviceFolder folder;
  folder.set_memory(75 * kMiB);
  const auto machine = machine_of(folder.options(2));
  ASSERT_TRUE(machine.ok()) << machine.error().message;
  const std::vector<Task> tasks = {linear_of(kLarge, "one"), linear_of(kLarge, "other")};
  std::vector<std::thread> threads;
  std::vector<std::string> differences(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 2; ++round)
        differences[i] +=
            difference(judge(**machine, tasks[i], honest_text()), timed(is(kCorrect)));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& difference : differences) EXPECT_EQ(difference, "");
}

/// Inputs and outputs of more than an eighth of the device: one copy of outputs at a time, for both sides.
TEST_F(DeviceMemoryOfModules, LargeTask_IsJudgedWithOneCopyOfItsOutputs) {
  DeviceFolder folder;
  folder.set_memory(54 * kMiB);
  const auto machine = machine_of(folder.options(1));
  ASSERT_TRUE(machine.ok()) << machine.error().message;
  const Task task = linear_of(kLarge, "large");
  EXPECT_EQ(difference(judge(**machine, task, honest_text()), timed(is(kCorrect))), "");
}

/// Over an eighth of the device: the reference answers in float32, and its answers are stored so.
TEST_F(DeviceMemoryOfModules, TaskWithNarrowAnswers_IsJudgedRight) {
  DeviceFolder folder;
  folder.set_memory(62 * kMiB);
  const auto machine = machine_of(folder.options(1));
  ASSERT_TRUE(machine.ok()) << machine.error().message;
  Task task = linear_of(kLarge, "narrow");
  task.tolerance = {};
  task.tolerance.from_reference = true;
  task.tolerance.reason = "its own error";
  ASSERT_TRUE(answers_are_narrow(task, 62 * kMiB));
  EXPECT_EQ(difference(judge(**machine, task, honest_text()), timed(is(kCorrect))), "");
  const std::string right = "self.right(x)";
  for (const char* wrong : {" * 1.001", " * float('nan')"}) {
    std::string text = honest_text();
    text.insert(text.rfind(right) + right.size(), wrong);
    EXPECT_EQ(difference(judge(**machine, task, text), is(kWrong, "is wrong")), "") << wrong;
  }
}

TEST_F(DeviceMemoryOfModules, Task_LargerThanTheDevice_IsRefusedWithBothNumbers) {
  DeviceFolder folder;
  folder.set_memory(128 * kMiB);
  const auto machine = machine_of(folder.options(2));
  ASSERT_TRUE(machine.ok()) << machine.error().message;
  const auto refused = judge(**machine, linear_of(64 * kLarge, "large"), honest_text());
  ASSERT_FALSE(refused.ok()) << text_of(refused);
  EXPECT_EQ(refused.error().code, Code::kFailedPrecondition);
  EXPECT_EQ(refused.error().message,
            "large needs 2.5 GiB of device memory, the device has 0.1 GiB");
  const auto small = judge(**machine, linear_of(8, "small"), honest_text());
  EXPECT_EQ(difference(small, timed(is(kCorrect))), "");
}

/// It raises what torch raises, whatever there is.
TEST_F(DeviceMemoryOfModules, SubmissionOutOfMemory_IsRepeatedWithTheDeviceToItself) {
  DeviceFolder folder;
  const auto machine = machine_of(folder.options(2));
  ASSERT_TRUE(machine.ok()) << machine.error().message;
  set_up_log(LogLevel::kInfo, false);
  testing::internal::CaptureStderr();
  std::string text = honest_text();
  text.replace(text.rfind("return self.right(x)"), std::string::npos,
               "raise torch.OutOfMemoryError('CUDA out of memory. Tried to allocate 6.00 GiB')\n");
  std::thread other([&] {
    EXPECT_EQ(
        difference(judge(**machine, linear_of(8, "other"), honest_text()), timed(is(kCorrect))),
        "");
  });
  const auto verdict = judge(**machine, linear_of(8, "short"), text);
  other.join();
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(difference(verdict, is(kOutOfMemory, "Tried to allocate")), "") << log;
  EXPECT_THAT(log, HasSubstr(" is followed by another (device_memory): "));
}

/// The judge's own allocations, one after the other: arenas of reference, baseline and submission, and copies of outputs.
TEST_F(DeviceMemoryOfModules, AllocationOfTheJudge_ThatFailsOnce_ChangesNoVerdict) {
  DeviceFolder folder;
  const auto machine = machine_of(folder.options(1));
  ASSERT_TRUE(machine.ok()) << machine.error().message;
  const Task first = linear_of(8, "first");
  ASSERT_EQ(difference(judge(**machine, first, honest_text()), timed(is(kCorrect))), "");
  for (std::uint64_t after = 0; after < 5; ++after) {
    const Task next = linear_of(8, "task " + std::to_string(after));
    folder.fail(after, 1);
    EXPECT_EQ(difference(judge(**machine, next, honest_text()), timed(is(kCorrect))), "") << after;
    folder.fail_no_more();
    EXPECT_EQ(difference(judge(**machine, first, honest_text()), timed(is(kCorrect))), "") << after;
  }
}

TEST_F(DeviceMemoryOfModules, DeviceThatStaysFull_IsAFault_AndTheNextSubmissionIsJudged) {
  DeviceFolder folder;
  const auto machine = machine_of(folder.options(1));
  ASSERT_TRUE(machine.ok()) << machine.error().message;
  const Task first = linear_of(8, "first");
  ASSERT_EQ(difference(judge(**machine, first, honest_text()), timed(is(kCorrect))), "");
  for (std::uint64_t after = 0; after < 5; ++after) {
    const Task next = linear_of(8, "task " + std::to_string(after));
    folder.fail(after, 1u << 30);
    const auto verdict = judge(**machine, next, honest_text());
    EXPECT_TRUE(!verdict.ok() || verdict->correct()) << after << ": " << text_of(verdict);
    folder.fail_no_more();
    EXPECT_EQ(difference(judge(**machine, first, honest_text()), timed(is(kCorrect))), "") << after;
  }
}

}  // namespace
}  // namespace hone::test
