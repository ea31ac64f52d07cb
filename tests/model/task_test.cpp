// Tasks: reading, mistakes, signatures, and the members that clients may see.
#include "model/task.hpp"

#include <gmock/gmock.h>
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

TEST(Task, Value_RoundTrips) {
  auto task = task_from_value(valid_task());
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_EQ(signature_of(*task),
            "extern \"C\" void scale(int64_t n, float a, const float* x, float* y)");
  EXPECT_EQ(signature_of(*task, "python"), "class " + task->entry + "(torch.nn.Module)");
  auto again = task_from_value(task_to_value(*task));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(task_to_value(*again), task_to_value(*task));
}

TEST(Task, InputThatMayChange_IsReadAndWritten_OnlyWithRoleIn) {
  const auto tensors = [](const char* changing) {
    Value x = tensor("x", "in", "n"), y = tensor("y", "out", "n"), z = tensor("z", "inout", "n");
    for (Value* one : {&x, &y, &z}) {
      if (one->find("name")->as_string() == changing) one->set("may_change", true);
    }
    return Value::array({x, y, z});
  };
  Value value = valid_task();
  value.set("tensors", tensors("x")).set("arguments", Value::array({"n", "a", "x", "y", "z"}));
  const auto task = task_from_value(value);
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_TRUE(task->tensors[0].may_change);
  EXPECT_FALSE(task->tensors[1].may_change);
  EXPECT_EQ(signature_of(*task),
            "extern \"C\" void scale(int64_t n, float a, float* x, float* y, float* z)");
  const auto again = task_from_value(task_to_value(*task));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->tensors[0].may_change);
  EXPECT_EQ(refusal("tensors", tensors("y")),
            "task/tensors/1: may_change: found on a tensor of role out, expected role in");
  EXPECT_EQ(refusal("tensors", tensors("z")),
            "task/tensors/2: may_change: found on a tensor of role inout, expected role in");
}

TEST(Task, SlowdownMax_IsZeroOrAtLeastTwo) {
  EXPECT_EQ(task_from_value(valid_task()).value().slowdown_max, 300);
  for (const double most : {0.0, 2.0, 2.5}) {
    Value value = valid_task();
    const Task task = task_from_value(value.set("slowdown_max", most)).value();
    EXPECT_EQ(task.slowdown_max, most);
    EXPECT_EQ(task_from_value(task_to_value(task)).value().slowdown_max, most);
  }
  EXPECT_THAT(refusal("slowdown_max", 0.5), testing::HasSubstr("expected 0 or at least 2"));
  EXPECT_THAT(refusal("slowdown_max", -1.0), testing::HasSubstr("slowdown_max: "));
}

TEST(Task, Flops_AreReadAndWritten_AndCountTheTimedShape) {
  Value value = valid_task();
  const Task without = task_from_value(value).value();
  EXPECT_EQ(flops_of_call(without), 0);
  EXPECT_EQ(task_to_value(without).find("flops"), nullptr);
  value.set("flops", "2 * n + 1");
  const Task task = task_from_value(value).value();
  EXPECT_EQ(flops_of_call(task), 129);
  EXPECT_EQ(*task_to_value(task).find("flops"), Value("2 * n + 1"));
  EXPECT_EQ(task_from_value(task_to_value(task)).value().flops, "2 * n + 1");
  EXPECT_THAT(refusal("flops", "2 * m"), testing::HasSubstr("flops: "));
  EXPECT_THAT(refusal("flops", "n - 50"),
              testing::HasSubstr("flops: found -42, expected at least 0"));
  EXPECT_THAT(refusal("flops", 0.5), testing::HasSubstr("flops: expected an expression"));
}

TEST(Task, TaskForAClient_HasNoSecrets) {
  const std::string shown = to_json(task_for_client(*task_from_value(valid_task()), "cpu"));
  EXPECT_EQ(shown.find("secret"), std::string::npos);
  EXPECT_EQ(shown.find("hidden"), std::string::npos);
  EXPECT_EQ(shown.find("families"), std::string::npos);
  EXPECT_NE(shown.find(R"("languages":["c++"])"), std::string::npos);
}

Value family(Value fill, Value tensors = Value::map()) {
  return Value::map({{"name", "one"}, {"fill", std::move(fill)}, {"tensors", std::move(tensors)}});
}

TEST(Task, InputGenerators_OfOneReferenceFormOnly) {
  const Value own = Value::map({{"kind", "reference"}});
  const Value varied = Value::map({{"kind", "varied"}});
  const Value normal = Value::map({{"kind", "normal"}});
  Value task = valid_task();
  task.set("families", Value::array({family(varied), family(own), family(normal)}));
  const auto read = task_from_value(task);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(reference_form(*read, read->families[0]), "varied");
  EXPECT_EQ(reference_form(*read, read->families[1]), "inputs");
  EXPECT_EQ(reference_form(*read, read->families[2]), "");
  EXPECT_EQ(reference_forms(*read), (std::set<std::string>{"inputs", "varied"}));
  EXPECT_EQ(reference_forms(*task_from_value(valid_task())), std::set<std::string>());

  // `y` is an output: nothing fills it.
  EXPECT_EQ(refusal("families", Value::array({family(own, Value::map({{"y", varied}}))})),
            "accepted");
  task.set("tensors", Value::array({tensor("x", "in", "n"), tensor("y", "inout", "n")}))
      .set("families", Value::array({family(own, Value::map({{"y", varied}}))}));
  EXPECT_NE(task_from_value(task).error().message.find(
                "family one: expected one of reference and varied"),
            std::string::npos);
}

/// valid_task() with a second backend, which has shapes, a tolerance and an alignment of its own.
Value task_of_two_backends() {
  Value task = valid_task();
  Value backends = *task.find("backends");
  Value wide = *backends.find("cpu");
  wide.set("languages", Value::array({"wide"}))
      .set("shown", Value::array({Value::map({{"n", 512}})}))
      .set("hidden", Value::array())
      .set("timed", Value::map({{"n", 4096}}))
      .set("tolerance", Value::map({{"rtol", 1e-3}, {"reason", "half the bits"}}))
      .set("alignment", 16);
  backends.set("wide", wide);
  task.set("backends", backends);
  return task;
}

TEST(Task, TaskForBackend_HasTheBackendsMembers) {
  const auto task = task_from_value(task_of_two_backends());
  ASSERT_TRUE(task) << task.error().message;
  const auto wide = task_for_backend(*task, "wide");
  ASSERT_TRUE(wide) << wide.error().message;
  EXPECT_EQ(wide->backends.size(), 1u);
  EXPECT_EQ(wide->shown.at(0).at("n"), 512);
  EXPECT_TRUE(wide->hidden.empty());
  EXPECT_EQ(wide->timed.at("n"), 4096);
  EXPECT_EQ(wide->tolerance.rtol, 1e-3);
  EXPECT_EQ(wide->alignment, 16);
  EXPECT_EQ(task_to_value(*task_for_backend(*wide, "wide")), task_to_value(*wide));
  EXPECT_EQ(task_for_backend(*wide, "cpu").error().message,
            "task scale: no sources for backend 'cpu'; it has: wide");
}

/// What another backend has does not concern it: its journal knows the task again.
TEST(Task, TaskForBackend_HasNoOtherBackendsSources) {
  const auto both = task_for_backend(*task_from_value(task_of_two_backends()), "cpu");
  ASSERT_TRUE(both) << both.error().message;
  EXPECT_EQ(task_to_value(*both), task_to_value(*task_from_value(valid_task())));
}

TEST(Task, TaskForClient_HasItsBackendsMembers) {
  const auto task = task_from_value(task_of_two_backends());
  const Value shown = task_for_client(*task, "wide");
  EXPECT_EQ(shown.find("shapes")->find("timed")->find("n")->as_int(), 4096);
  EXPECT_EQ(shown.find("alignment")->as_int(), 16);
  EXPECT_EQ(shown.find("signature")->as_string(),
            "extern \"C\" __global__ void scale(int64_t n, float a, const float* x, float* y)");
  EXPECT_EQ(task_for_client(*task, "cpu").find("shapes")->find("timed")->find("n")->as_int(), 64);
}

TEST(Task, BackendMembers_RoundTrip) {
  const auto task = task_from_value(task_of_two_backends());
  ASSERT_TRUE(task) << task.error().message;
  const auto again = task_from_value(task_to_value(*task));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(task_to_value(*again), task_to_value(*task));
}

TEST(Task, BackendShapes_ThatDoNotFit_AreRefused) {
  Value task = task_of_two_backends();
  Value backends = *task.find("backends");
  Value wide = *backends.find("wide");
  wide.set("shown", Value::array());
  backends.set("wide", wide);
  EXPECT_EQ(refusal("backends", backends),
            "task/backends/wide: shown: expected at least one shape");
  wide.set("shown", Value::array({Value::map({{"n", 0}})}));
  backends.set("wide", wide);
  EXPECT_EQ(refusal("backends", backends),
            "task: backends/wide/shown/0: tensor x: an axis of 0 elements; expected at least 1 and "
            "at most 2^32 in all");
}

TEST(Task, SixteenBitScalar_IsRefused) {
  EXPECT_EQ(refusal("scalars",
                    Value::array({Value::map(
                        {{"name", "a"}, {"dtype", "f16"}, {"range", Value::array({0.5, 2.0})}})})),
            "task/scalars/0: dtype: a scalar cannot have f16");
}

TEST(Task, ContradictoryMembers_AreRefused) {
  EXPECT_EQ(refusal("entry", "no good"), "task: entry: 'no good' is not a C identifier");
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
