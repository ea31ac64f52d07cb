// Operators of recorded plans: made by an interpreter of the test, or refused where there is none.
#include <cstddef>
#include <cstdio>

#include "gpu/backend/recorded_plan_fixture.hpp"

namespace hone::test {
namespace {

class GpuPlanOperators : public GpuRecordedPlan {};

struct Called {
  std::string list;
  std::uint64_t plan = 0;
  std::vector<std::uint32_t> numbers;
  std::vector<std::uint64_t> addresses;
  int gone = 0;
};
Called g_called;

hone_python interpreter() {
  hone_python python{};
  python.struct_size = sizeof python;
  python.load_operators = [](std::uint64_t plan, const void* list, std::uint64_t size, char*,
                             std::uint64_t) -> std::int32_t {
    g_called.plan = plan;
    if (size == 0) ++g_called.gone;
    if (size != 0) g_called.list.assign(static_cast<const char*>(list), size);
    return HONE_OK;
  };
  python.operate = [](std::uint64_t plan, std::uint32_t number, const std::uint64_t* addresses,
                      std::uint64_t count, std::uint64_t stream, char* words,
                      std::uint64_t words_size) -> std::int32_t {
    if (plan != g_called.plan || stream == 0 || number == 7) {
      std::snprintf(words, words_size, "no such operator");
      return HONE_NOT_FOUND;
    }
    g_called.numbers.push_back(number);
    g_called.addresses.assign(addresses, addresses + count);
    return HONE_OK;
  };
  return python;
}

Plan with_operators(Plan made) {
  using plugin::Value;
  made.memories = {task(0), task(1), scratch(1)};
  Operator call;
  call.name = "aten.relu.out";
  call.arguments = Value::array({Value::map({{"tensor", 0}})});
  call.keywords = Value::map({{"out", Value::map({{"tensor", 1}})}});
  call.tensors = {{{0, 0}, "float32", {256}, {1}}, {{2, 64}, "float32", {16}, {1}}};
  call.results = {1};
  made.run = {{0, call}, {0, launch_of(kScaleKernel, {0, 1})}};
  call.tensors = {{{2, 0}, "float32", {256}, {1}}};
  call.keywords = Value::map({{"out", Value::map({{"tensor", 0}})}});
  call.arguments = Value::array({Value::map({{"tensor", 0}})});
  call.results = {0};
  made.setup = {{0, call}};
  return made;
}

TEST_P(GpuPlanOperators, Operators_AreMadeByTheInterpreter) {
  g_called = {};
  const hone_python python = interpreter();
  HONE_OKAY(use_python(device_, &python, error));
  hone_kernel* mixed = entry(with_operators(plan()), 2);
  EXPECT_EQ(g_called.numbers, (std::vector<std::uint32_t>{0}));
  const plugin::Value list = plugin::from_msgpack(std::string_view(g_called.list));
  ASSERT_EQ(list.as_array().size(), 2u);
  EXPECT_EQ(list.as_array()[1].at("name").as_string(), "aten.relu.out");
  EXPECT_EQ(list.as_array()[1].at("tensors").as_array()[0].at("sizes").as_array()[0],
            plugin::Value(256));
  write(0, numbers(4));
  call(mixed, {0, 4096});
  EXPECT_EQ(read<float>(4096, 1)[0], 4);
  EXPECT_EQ(g_called.addresses[0], table().buffer_address(buffer_));
  EXPECT_EQ(g_called.numbers.back(), 1u);
  // Marks are of the stream on which plans run.
  double seconds = -1;
  HONE_OKAY(mark(device_, 0, error));
  call(mixed, {0, 4096});
  HONE_OKAY(mark(device_, 1, error));
  HONE_OKAY(wait(device_, error));
  HONE_OKAY(between_marks(device_, &seconds, error));
  EXPECT_GE(seconds, 0);
  unload(artifacts_.back());
  EXPECT_EQ(g_called.gone, 1);
  HONE_OKAY(use_python(device_, nullptr, error));
}

TEST_P(GpuPlanOperators, OperatorsWithoutInterpreter_AreRefused) {
  const std::string words =
      "the plan calls the operator 'aten.relu.out', and this process has no torch to run it";
  EXPECT_EQ(refusal(with_operators(plan())).words, words);
  hone_python python = interpreter();
  python.struct_size = offsetof(hone_python, load_operators);  // of an older host
  HONE_OKAY(use_python(device_, &python, error));
  EXPECT_EQ(refusal(with_operators(plan())).words, words);
  HONE_OKAY(use_python(device_, nullptr, error));
}

TEST_P(GpuPlanOperators, OperatorThatFails_IsNamed) {
  g_called = {};
  hone_python python = interpreter();
  python.operate = [](std::uint64_t, std::uint32_t, const std::uint64_t*, std::uint64_t,
                      std::uint64_t, char* words, std::uint64_t words_size) -> std::int32_t {
    std::snprintf(words, words_size, "no such operator");
    return HONE_NOT_FOUND;
  };
  HONE_OKAY(use_python(device_, &python, error));
  EXPECT_EQ(refusal(with_operators(plan())).words,
            "recorded plan/setup/0: operator 'aten.relu.out': no such operator");
  EXPECT_EQ(g_called.gone, 1);  // what was loaded so far is given back
  HONE_OKAY(use_python(device_, nullptr, error));
}

INSTANTIATE_TEST_SUITE_P(Vendor, GpuPlanOperators, testing::ValuesIn(vendors()), tested_name);

}  // namespace
}  // namespace hone::test
