// The answers of a recording process, which its submission may have written.
#include "evaluate/recording.hpp"

#include <gtest/gtest.h>

#include "hone/recorded_plan_writer.hpp"
#include "recorded_plan/sample.hpp"

namespace hone {
namespace {

const std::string kNoProblem = "{\"problem\": \"\"}\n";

TEST(ReadRecording, Plan_IsReadWithItsWork) {
  const std::string bytes = recorded::write_plan(test::sample_plan());
  const auto recording = read_recording(kNoProblem + bytes);
  ASSERT_TRUE(recording) << recording.error().message;
  EXPECT_EQ(recording->problem, "");
  ASSERT_NE(recording->plan, nullptr);
  EXPECT_EQ(recording->plan->bytes, bytes);
  EXPECT_TRUE(recording->plan->has_operators);
  EXPECT_EQ(recording->plan->work.operators.count("torch add"), 1u);
}

TEST(ReadRecording, Problem_IsTextWithoutControlCharacters) {
  const auto recording = read_recording("{\"problem\": \"a value was \\u001b[31mread\"}\nignored");
  ASSERT_TRUE(recording);
  EXPECT_EQ(recording->plan, nullptr);
  EXPECT_EQ(recording->problem, "a value was ?[31mread");
}

TEST(ReadRecording, DamagedPlan_IsAProblem) {
  std::string bytes = recorded::write_plan(test::sample_plan());
  bytes.resize(bytes.size() / 2);
  const auto recording = read_recording(kNoProblem + bytes);
  ASSERT_TRUE(recording);
  EXPECT_EQ(recording->plan, nullptr);
  EXPECT_EQ(recording->problem.find("its plan cannot be used: "), 0u) << recording->problem;
}

TEST(ReadRecording, OtherAnswers_AreErrors) {
  for (const char* answer : {"", "no line", "not JSON\n", "{}\n", "{\"problem\": 1}\n"})
    EXPECT_FALSE(read_recording(answer)) << answer;
}

}  // namespace
}  // namespace hone
