// Tasks: reading, refusing, signatures, and what clients may see.
#include "model/task.hpp"

#include <gtest/gtest.h>

namespace hone {
namespace {

Value tensor(const char* name, const char* role, const char* axis) {
  return Value::map(
      {{"name", name}, {"role", role}, {"dtype", "f32"}, {"shape", Value::array({axis})}});
}

Value valid_task() {
  const Value source = Value::map({{"name", "r.cpp"}, {"text", "secret"}});
  return Value::map(
      {{"id", "scale"},
       {"title", "Scale"},
       {"description", "y = a x"},
       {"entry", "scale"},
       {"dims", Value::array({"n"})},
       {"tensors", Value::array({tensor("x", "in", "n"), tensor("y", "out", "n")})},
       {"scalars",
        Value::array(
            {Value::map({{"name", "a"}, {"dtype", "f32"}, {"range", Value::array({0.5, 2.0})}}),
             Value::map({{"name", "n"}, {"value", "n"}})})},
       {"arguments", Value::array({"n", "a", "x", "y"})},
       {"shapes",
        Value::map({{"shown", Value::array({Value::map({{"n", 8}})})},
                    {"hidden", Value::array({Value::map({{"n", Value::array({1, 99})}})})},
                    {"timed", Value::map({{"n", 64}})}})},
       {"tolerance", Value::map({{"rtol", 1e-6}, {"reason", "one rounding"}})},
       {"backends", Value::map({{"cpu", Value::map({{"languages", Value::array({"c++"})},
                                                    {"reference", source},
                                                    {"baseline", source}})}})}});
}

std::string refusal(std::string_view key, Value value) {
  Value task = valid_task();
  task.set(key, std::move(value));
  auto read = task_from_value(task);
  return read ? "accepted" : read.error().message;
}

TEST(Task, ReadsAndWritesTheSame) {
  auto task = task_from_value(valid_task());
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_EQ(c_signature(*task),
            "extern \"C\" void scale(int64_t n, float a, const float* x, float* y)");
  auto again = task_from_value(task_to_value(*task));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(task_to_value(*again), task_to_value(*task));
}

TEST(Task, KeepsSecretsFromClients) {
  const std::string shown = to_json(task_for_client(*task_from_value(valid_task()), "cpu"));
  EXPECT_EQ(shown.find("secret"), std::string::npos);
  EXPECT_EQ(shown.find("hidden"), std::string::npos);
  EXPECT_EQ(shown.find("families"), std::string::npos);
  EXPECT_NE(shown.find(R"("languages":["c++"])"), std::string::npos);
}

TEST(Task, RefusesWhatDoesNotFitTogether) {
  EXPECT_EQ(refusal("entry", "no good"), "task: entry: 'no good' is no C identifier");
  EXPECT_EQ(refusal("arguments", Value::array({"x", "y"})),
            "task: arguments: expected each tensor and scalar exactly once");
  EXPECT_EQ(refusal("tensors", Value::array({tensor("x", "in", "k"), tensor("y", "out", "n")})),
            "task: shapes/timed: tensor x: expression 'k', column 2: unknown name 'k'; did you "
            "mean 'n'?");
  EXPECT_EQ(refusal("tensors", Value::array({tensor("x", "in", "n"), tensor("y", "in", "n")})),
            "task: tensors: expected at least one with role out or inout");
  EXPECT_EQ(refusal("alignment", 48), "task: alignment: expected a power of two");
  EXPECT_EQ(refusal("tolernace", 1), "task: unknown key 'tolernace'; did you mean 'tolerance'?");
  EXPECT_EQ(
      refusal("tensors", Value::array({tensor("x", "in", "n - 64"), tensor("y", "out", "n")})),
      "task: shapes/timed: tensor x: an axis of 0 elements; expected at least 1 and at most 2^32 "
      "in all");
}

}  // namespace
}  // namespace hone
