// Files of recorded plans: written and read again, and refused with the step, what was found and
// what was expected.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "hone/recorded_plan_reader.hpp"
#include "hone/recorded_plan_writer.hpp"
#include "recorded_plan/sample.hpp"

namespace hone {
namespace {

using plugin::Value;
using recorded::kMagic;
using recorded::Plan;
using recorded::read_plan;
using recorded::write_plan;
using testing::HasSubstr;

std::string refusal(std::string_view file) {
  try {
    read_plan(file);
  } catch (const plugin::Failure& failure) {
    EXPECT_EQ(failure.code(), HONE_INVALID_ARGUMENT);
    return failure.what();
  }
  return "";
}

/// The member at a path: "run/0/grid".
Value& member(Value& root, std::string_view path) {
  Value* at = &root;
  while (!path.empty()) {
    const std::string key(path.substr(0, path.find('/')));
    path.remove_prefix(std::min(path.size(), key.size() + 1));
    if (at->is_array()) {
      at = &at->as_array().at(std::stoul(key));
    } else if (at->find(key) == nullptr) {
      at = &at->set(key, nullptr);
    } else {
      at = const_cast<Value*>(at->find(key));
    }
  }
  return *at;
}

/// The sample's file with one member changed.
std::string changed(std::string_view path, const Value& value) {
  Value root =
      plugin::from_msgpack(std::string_view(write_plan(test::sample_plan())).substr(kMagic.size()));
  member(root, path) = value;
  return std::string(kMagic) + plugin::to_msgpack(root);
}

TEST(RecordedPlan, File_WrittenAndRead_IsTheSamePlan) {
  const std::string file = write_plan(test::sample_plan());
  EXPECT_EQ(file.substr(0, kMagic.size()), kMagic);
  const Plan plan = read_plan(file);
  EXPECT_EQ(write_plan(plan), file);
  ASSERT_EQ(plan.run.size(), 9u);
  ASSERT_EQ(plan.tuned.size(), 1u);
  EXPECT_EQ(plan.tuned[0].key, "count: 7");
  EXPECT_EQ(plan.tuned[0].configurations, (std::vector<std::string>{"block: 64", "block: 128"}));
  ASSERT_EQ(plan.tuned[0].left_out.size(), 1u);
  EXPECT_EQ(plan.tuned[0].left_out[0].configuration, "block: 256");
  EXPECT_EQ(plan.tuned[0].left_out[0].reason, "out of resource");
  EXPECT_EQ(plan.run[6].tuned, 0u);
  EXPECT_EQ(plan.run[8].tuned, 1u);
  EXPECT_EQ(plan.run[8].configuration, 1u);
  EXPECT_EQ(plan.images[0].bytes.size(), 13u);
  EXPECT_EQ(plan.memories[2].name, "factor");
  const auto& launch = std::get<recorded::Launch>(plan.run[0].work);
  EXPECT_EQ(launch.addresses[1].place.offset, 1024u);
  EXPECT_EQ(launch.tensor_maps[0].sizes[1], 32u);
  EXPECT_EQ(launch.tensor_maps[0].strides[0], 64u);
  const auto& call = std::get<recorded::Operator>(plan.run[6].work);
  EXPECT_EQ(call.arguments, test::sample_operator().arguments);
  EXPECT_EQ(call.tensors[0].strides, (std::vector<std::int64_t>{3, 1}));
}

TEST(RecordedPlan, EmptyPlan_WrittenAndRead_IsEmpty) {
  Plan plan;
  plan.architecture = "gfx942";
  EXPECT_TRUE(read_plan(write_plan(plan)).run.empty());
}

TEST(RecordedPlan, FileOfAnotherKind_IsRefused) {
  EXPECT_EQ(refusal("ELF"), "recorded plan: the file does not begin with 'hone-recorded-plan-1'");
  EXPECT_EQ(refusal(kMagic), "recorded plan: messagepack: cut off at byte 0");
  const std::string file = write_plan(test::sample_plan());
  EXPECT_THAT(refusal(file.substr(0, file.size() - 1)), HasSubstr("messagepack: cut off"));
  EXPECT_THAT(refusal(file + "x"), HasSubstr("1 bytes after the value"));
}

struct Mistake {
  const char* path;
  Value value;
  const char* message;
};

const Mistake kMistakes[] = {
    {"version", 1, "recorded plan: version: expected 2, found 1; record the module again"},
    {"architecture", "", "recorded plan: architecture: expected 1 to 32 of them, found 0"},
    {"extra", 1, "recorded plan: unknown key 'extra'"},
    {"images/0/bytes", "text", "recorded plan/images/0: bytes: expected bytes, found string"},
    {"images/0/bytes", Value::bytes(""),
     "recorded plan/images/0: bytes: expected 1 to 67108864 of them"},
    {"images/0/library", "lib torch", "recorded plan/images/0: library: expected printable ASCII"},
    {"kernels/0/image", 1, "kernels/0: image: found number 1, and there are 1, counted from 0"},
    {"kernels/0/image", -1, "kernels/0: image: expected 0 to"},
    {"kernels/0/name", "a b", "kernels/0: name: expected printable ASCII"},
    {"kernels/0/carveout", 101, "kernels/0: carveout: expected -1 to 100, found 101"},
    {"kernels/0/nonportable_clusters", 1, "expected true or false, found int"},
    {"memories/0/kind", "host", "memories/0: kind: unknown value 'host'"},
    {"memories/0/bytes", (std::int64_t{1} << 40) + 1, "memories/0: bytes: expected 0 to"},
    {"memories/0/first", 0, "memories/0: unknown key 'first'"},
    {"memories/1/last", 9, "memories/1: last: expected 0 to 8, found 9"},
    {"memories/2/image", 9, "memories/2: image: found number 9"},
    {"streams", 1, "run/0 (launch): stream: expected 0 to 0, found 1"},
    {"streams", 17, "streams: expected 1 to 16, found 17"},
    {"events", 0, "run/1 (record): event: found number 0, and there are 0"},
    {"run/0/do", "jump", "run/0 (jump): do: unknown value 'jump'"},
    {"run/0/kernel", 1, "run/0 (launch): kernel: found number 1"},
    {"run/0/grid", Value::array({1, 1}), "run/0 (launch): grid: expected 3 to 3 of them, found 2"},
    {"run/0/grid", Value::array({0, 1, 1}), "grid: expected 1 to 2147483647, found 0"},
    {"run/0/grid", Value::array({2, 65536, 1}), "grid: expected at most 65535"},
    {"run/0/grid", Value::array({3, 2, 1}), "cluster: expected a divisor of the grid's 3, found 2"},
    {"run/0/block", Value::array({64, 32, 1}), "block: expected at most 1024 threads, found 2048"},
    {"run/0/cluster", Value::array({2, 0, 1}), "cluster: expected 1 to 16 blocks, found 0"},
    {"run/0/cluster", Value::array({4, 2, 4}), "cluster: expected 1 to 16 blocks, found 32"},
    {"run/0/shared_bytes", 65537, "shared_bytes: expected 0 to 65536, found 65537"},
    {"run/0/parameters", Value::bytes(std::string(32765, 'x')), "expected 0 to 32764 of them"},
    {"run/0/parameters", Value::bytes("short"),
     "addresses/0: expected a multiple of 8 with 8 of 5"},
    {"run/0/addresses/0/0", 4, "addresses/0: expected a multiple of 8"},
    {"run/0/addresses/1/0", 0, "addresses/1: expected ascending offsets, found 0 after 0"},
    {"run/0/addresses/1/0", 64, "tensor_maps: what stands at 64 overlaps what stands at 64"},
    {"run/0/addresses/0/1", 3, "addresses/0: found number 3, and there are 3"},
    {"run/0/addresses/1/2", 1025, "found 0 bytes at 1025 of memory 1, which has 1024 bytes"},
    {"run/0/tensor_maps/0/at", 8, "tensor_maps/0: at: expected a multiple of 16 with 128 of 192"},
    {"run/0/tensor_maps/0/rank", 6, "tensor_maps/0: rank: expected 1 to 5, found 6"},
    {"run/0/tensor_maps/0/rank", 3, "tensor_maps/0: sizes: expected 3 to 3 of them, found 2"},
    {"run/0/tensor_maps/0/box/0", 257, "tensor_maps/0: box: expected 1 to 256, found 257"},
    {"run/2/event", 1, "run/2 (wait): event: found number 1"},
    {"run/1/do", "wait", "run/1 (wait): event: event 0 is waited for before it is recorded"},
    {"run/3/bytes", 17,
     "run/3 (copy): to_pitch: expected at least the 17 bytes of a row, found 16"},
    {"run/3/rows", 65, "run/3 (copy): to: found 1040 bytes at 0 of memory 1"},
    {"run/3/rows", std::int64_t{1} << 40, "rows, which memory of 2^40 bytes does not hold"},
    {"run/3/from", Value::array({0, 4000}), "from: found 208 bytes at 4000 of memory 0"},
    {"run/3/from", Value::array({0}), "from: expected a memory's number and an offset"},
    {"run/3/from", Value::array({0, -1}), "from: found 208 bytes at -1 of memory 0"},
    {"run/4/to/1", 1009, "run/4 (write): to: found 16 bytes at 1009 of memory 1"},
    {"run/4/addresses/0/0", 16, "addresses/0: expected a multiple of 8 with 8 of 16 bytes"},
    {"run/5/width", 3, "run/5 (fill): width: expected 1, 2 or 4, found 3"},
    {"run/5/width", 2, "run/5 (fill): value: expected 0 to 65535, found 4294967295"},
    {"run/5/to/1", 6, "run/5 (fill): to: expected an offset and a pitch that are multiples of 4"},
    {"run/5/count", std::int64_t{1} << 39, "run/5 (fill): count: expected 0 to"},
    {"run/6/arguments/0/tensor", 2, "run/6 (operator): arguments: found number 2"},
    {"run/6/arguments/2/0/dtype", "int9", "arguments: expected the name of a dtype"},
    {"run/6/arguments/1", Value::bytes("x"), "arguments: expected a value of JSON, found bytes"},
    {"run/6/keywords/out", Value::map({}), "keywords/out: expected {\"tensor\": number}"},
    {"run/6/results/0", 2, "run/6 (operator): results: found number 2"},
    {"run/6/tensors/0/dtype", "float31", "tensors/0: dtype: found 'float31'"},
    {"run/6/tensors/0/sizes/0", 400, "place: found 4800 bytes at 0 of memory 0"},
    {"run/6/tensors/0/strides", Value::array({1}), "strides: expected 2 to 2 of them, found 1"},
    {"run/6/tensors/0/strides/0", -1, "strides: expected 0 to"},
    {"run/6/tensors/0/sizes/0", std::int64_t{1} << 40, "more bytes than memory can have"},
    {"run/6/tensors/1/place/1", 15, "place: expected an offset that is a multiple of 2, found 15"},
    {"tuned/0/configurations", Value::array({"block: 64"}),
     "tuned/0: configurations: expected 2 to 128 of them, found 1"},
    {"tuned/0/configurations/1", 128, "tuned/0: configurations: expected a text, found int"},
    {"tuned/0/configurations/0", "\x1b[2J", "configurations: expected printable ASCII characters"},
    {"tuned/0/configurations/0", std::string(201, 'x'), "expected 0 to 200 of them, found 201"},
    {"tuned/0/left_out/0/reason", "\n", "tuned/0/left_out/0: reason: expected printable ASCII"},
    {"tuned", Value::array(), "run/7 (fill): tuned: found number 0, and there are 0"},
    {"run/8/tuned", 1, "run/8 (fill): tuned: found number 1, and there are 1"},
    {"run/8/configuration", 2, "run/8 (fill): configuration: found number 2, and there are 2"},
    {"run/6/tuned", 0, "run/6 (operator): tuned: only launches, copies, writes and fills"},
    {"run/1/tuned", 0, "run/1 (record): tuned: only launches, copies, writes and fills"},
    {"setup/0/tuned", 0,
     "setup/0 (write): tuned: only launches, copies, writes and fills of the run"},
    {"setup/0/to", Value::array({0, 0}),
     "setup/0 (write): to: found memory 0, a tensor of the task"},
};

TEST(RecordedPlan, MalformedPlan_IsRefusedWithItsPlace) {
  for (const Mistake& mistake : kMistakes) {
    EXPECT_THAT(refusal(changed(mistake.path, mistake.value)), HasSubstr(mistake.message))
        << mistake.path;
  }
}

TEST(RecordedPlan, EachMember_Missing_IsNamed) {
  const Value root =
      plugin::from_msgpack(std::string_view(write_plan(test::sample_plan())).substr(kMagic.size()));
  const std::function<void(const std::string&, const Value&)> visit = [&](const std::string& path,
                                                                          const Value& value) {
    if (value.is_array()) {
      for (std::size_t i = 0; i < value.as_array().size(); ++i)
        visit(path + "/" + std::to_string(i), value.as_array()[i]);
    }
    if (!value.is_map() || path.find("/arguments") != std::string::npos ||
        path.find("/keywords") != std::string::npos)
      return;
    for (const auto& [key, item] : value.as_map()) {
      const std::string at = path.empty() ? key : path + "/" + key;
      EXPECT_THAT(refusal(changed(at, nullptr)), HasSubstr(key + ": missing")) << at;
      visit(at, item);
    }
  };
  visit("", root);
}

/// Each of these bytes would take 40 bytes of memory of the process that reads the file.
TEST(RecordedPlan, MoreValuesThanTheLimit_AreRefused) {
  const auto count = static_cast<std::uint32_t>(recorded::kValuesMax);
  std::string file(kMagic);
  file += '\xdd';
  for (int shift = 24; shift >= 0; shift -= 8) file += static_cast<char>(count >> shift & 0xff);
  file.append(count, '\x90');
  EXPECT_EQ(refusal(file), "recorded plan: messagepack: more than 4194304 values");
}

TEST(RecordedPlan, MemoryOutsideItsLifetime_IsRefused) {
  Plan plan = test::sample_plan();
  plan.memories[1].first = 1;
  EXPECT_THAT(refusal(write_plan(plan)),
              HasSubstr("run/0 (launch): addresses/1: found memory 1, which is needed from step 1 "
                        "to step 8 of the run"));
  plan = test::sample_plan();
  plan.memories[1].last = 4;
  EXPECT_THAT(refusal(write_plan(plan)), HasSubstr("run/5 (fill): to: found memory 1"));
  plan = test::sample_plan();
  plan.setup[0] = {0, recorded::Write{{1, 0}, "bytes", {}}};
  EXPECT_EQ(refusal(write_plan(plan)), "");
  plan.memories.push_back({recorded::MemoryKind::kPrivate, 8, 0, 0, "", 2, 3});
  plan.setup[0] = {0, recorded::Write{{3, 0}, "bytes", {}}};
  EXPECT_THAT(refusal(write_plan(plan)), HasSubstr("setup/0 (write): to: found memory 3"));
}

TEST(RecordedPlan, TensorWithoutElements_MayBeAnywhereInAMemory) {
  Plan plan = test::sample_plan();
  auto& call = std::get<recorded::Operator>(plan.run[6].work);
  call.tensors[0] = {{0, 4095}, "float32", {4, 0}, {1 << 20, 1}};
  EXPECT_EQ(refusal(write_plan(plan)), "");
  call.tensors[0].place.offset = 4097;
  EXPECT_THAT(refusal(write_plan(plan)), HasSubstr("place: found 0 bytes at 4097 of memory 0"));
}

TEST(RecordedPlan, TwoMemoriesOfOneArgument_AreRefused) {
  Plan plan = test::sample_plan();
  plan.memories.push_back(plan.memories[0]);
  EXPECT_THAT(refusal(write_plan(plan)), HasSubstr("argument: two memories have number 0"));
}

TEST(RecordedPlan, EventOfTheSetup_IsNotKnownToTheRun) {
  Plan plan = test::sample_plan();
  plan.setup.push_back({0, recorded::Record{0}});
  plan.run[1] = {1, recorded::Wait{0}};
  EXPECT_THAT(refusal(write_plan(plan)), HasSubstr("run/1 (wait): event: event 0 is waited for"));
}

TEST(RecordedPlan, Steps_RunIfTheirConfigurationIsChosen) {
  const Plan plan = test::sample_plan();
  const auto steps = [&](std::uint32_t chosen) {
    return std::count_if(plan.run.begin(), plan.run.end(), [&](const recorded::Step& step) {
      return recorded::runs(step, {chosen});
    });
  };
  EXPECT_EQ(steps(0), 8);
  EXPECT_EQ(steps(1), 8);
  EXPECT_TRUE(recorded::runs(plan.run[8], {1}));
  EXPECT_FALSE(recorded::runs(plan.run[8], {0}));
}

TEST(RecordedPlan, TooManySteps_AreRefused) {
  Plan plan = test::sample_plan();
  plan.run.resize(recorded::kStepsMax + 1, {0, recorded::Record{0}});
  EXPECT_THAT(refusal(write_plan(plan)),
              HasSubstr("run: expected 0 to 16384 of them, found 16385"));
}

}  // namespace
}  // namespace hone
