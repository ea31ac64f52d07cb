// The answers of a recording process, which its submission may have written.
#include "evaluate/recording.hpp"

#include <gtest/gtest.h>

#include "hone/recorded_plan_writer.hpp"
#include "recorded_plan/sample.hpp"

namespace hone {
namespace {

Result<Recording> read(const std::string& answer) {
  SharedPieces images;
  return read_recording(answer, images);
}

const std::string kNoProblem = "{\"problem\": \"\"}\n";

TEST(ReadRecording, Plan_IsReadWithItsWork) {
  const std::string bytes = recorded::write_plan(test::sample_plan());
  const auto recording = read(kNoProblem + bytes);
  ASSERT_TRUE(recording) << recording.error().message;
  EXPECT_EQ(recording->problem, "");
  ASSERT_NE(recording->plan, nullptr);
  EXPECT_EQ(recording->plan->bytes.joined(), bytes);
  EXPECT_TRUE(recording->plan->has_operators);
  EXPECT_EQ(recording->plan->work.operators.count("torch.add"), 1u);
}

/// A plan that names more kernels than a verdict holds, or longer ones, must not make a verdict that cannot be read.
TEST(ReadRecording, WorkOfAPlan_IsReadBackFromItsVerdict) {
  recorded::Plan plan = test::sample_plan();
  const recorded::Step launch = plan.run[0];
  plan.kernels.clear();
  plan.run.clear();
  plan.images.push_back({"own", ""});
  for (std::uint32_t i = 0; i < 200; ++i) {
    plan.kernels.push_back(
        {i % 2, "a_long_name_" + std::to_string(i) + std::string(100, 'x'), 65536, 50, true});
    plan.run.push_back(launch);
    std::get<recorded::Launch>(plan.run.back().work).kernel = i;
  }
  plan.memories[1].last = 199;
  const auto recording = read(kNoProblem + recorded::write_plan(plan));
  ASSERT_TRUE(recording);
  ASSERT_NE(recording->plan, nullptr) << recording->problem;
  const auto work = work_from_value(work_to_value(Work{recording->plan->work}));
  ASSERT_TRUE(work) << work.error().message;
  EXPECT_EQ(work->kernels.size(), 64u);
  EXPECT_EQ(work->kernels.at("others"), 100 - 63);
  EXPECT_EQ(work->operators.size(), 64u);
}

TEST(ReadRecording, ConfigurationsThatStartOtherKernels_AreAProblem) {
  recorded::Plan plan = test::sample_plan();
  const recorded::Step launch{0, plan.run[0].work, 1, 0};
  plan.images.push_back({"own", ""});
  plan.kernels[0].image = 1;
  plan.kernels.push_back({1, "other", 65536, 50, true});
  plan.kernels.push_back({0, "fill", 65536, 50, true});
  plan.run.insert(plan.run.end() - 2, {launch, {0, launch.work, 1, 1}});
  plan.memories[1].last = 10;
  auto recording = read(kNoProblem + recorded::write_plan(plan));
  ASSERT_TRUE(recording);
  ASSERT_NE(recording->plan, nullptr) << recording->problem;
  EXPECT_EQ(recording->plan->work.kernels.at("add"), 2) << "a call runs one of them";
  // Torch's kernels may differ. The largest number counts.
  recorded::Plan clears = plan;
  for (int i = 0; i < 2; ++i) {
    clears.run.push_back({0, launch.work, 1, 1});
    std::get<recorded::Launch>(clears.run.back().work).kernel = 2;
  }
  clears.memories[1].last = 12;
  recording = read(kNoProblem + recorded::write_plan(clears));
  ASSERT_TRUE(recording);
  ASSERT_NE(recording->plan, nullptr) << recording->problem;
  EXPECT_EQ(recording->plan->work.kernels.at("add"), 2);
  EXPECT_EQ(recording->plan->work.operators.at("torch.fill"), 2);
  std::get<recorded::Launch>(plan.run[8].work).kernel = 1;
  recording = read(kNoProblem + recorded::write_plan(plan));
  ASSERT_TRUE(recording);
  EXPECT_EQ(recording->plan, nullptr);
  EXPECT_EQ(recording->problem,
            "its plan cannot be used: the configurations of an autotuned kernel start different "
            "kernels");
}

TEST(ReadRecording, CooperativeLaunch_IsNoted) {
  recorded::Plan plan = test::sample_plan();
  EXPECT_FALSE(read(kNoProblem + recorded::write_plan(plan))->plan->is_cooperative);
  std::get<recorded::Launch>(plan.run[0].work).cooperative = true;
  EXPECT_TRUE(read(kNoProblem + recorded::write_plan(plan))->plan->is_cooperative);
}

TEST(ReadRecording, Problem_IsTextWithoutControlCharacters) {
  const auto recording = read("{\"problem\": \"a value was \\u001b[31mread\"}\nignored");
  ASSERT_TRUE(recording);
  EXPECT_EQ(recording->plan, nullptr);
  EXPECT_EQ(recording->problem, "a value was ?[31mread");
}

TEST(ReadRecording, DamagedPlan_IsAProblem) {
  std::string bytes = recorded::write_plan(test::sample_plan());
  bytes.resize(bytes.size() / 2);
  const auto recording = read(kNoProblem + bytes);
  ASSERT_TRUE(recording);
  EXPECT_EQ(recording->plan, nullptr);
  EXPECT_EQ(recording->problem.find("its plan cannot be used: "), 0u) << recording->problem;
}

TEST(ReadRecording, OtherAnswers_AreErrors) {
  for (const char* answer : {"", "no line", "not JSON\n", "{}\n", "{\"problem\": 1}\n"})
    EXPECT_FALSE(read(answer)) << answer;
}

}  // namespace
}  // namespace hone
