// Recorded plans on the gpu plugins' devices: each kind of step, addresses that change, refusals, and memory that is
// given back.
#include <cstdio>
#include <cstdlib>

#include "gpu/backend/recorded_plan_fixture.hpp"

namespace hone::test {
namespace {

using testing::HasSubstr;

TEST_P(GpuRecordedPlan, OneLaunch_GivesItsOutputsAtEachAddress) {
  Plan made = plan();
  made.memories = {task(0), task(1), task(2)};
  made.run = {{0, launch_of(kAddKernel, {0, 1, 2})}};
  hone_kernel* add = entry(made, 3);
  for (const std::uint64_t at : {0u, 65536u, 131072u}) {
    write(at, numbers(1));
    write(at + 4096, numbers(10));
    call(add, {at, at + 4096, at + 8192});
    EXPECT_EQ(read<float>(at + 8192, 2), (std::vector<float>{11, 13}));
  }
}

TEST_P(GpuRecordedPlan, EachKindOfStep_IsDoneInEachCall) {
  hone_kernel* steps = entry(every_step(plan()), 3);
  for (int round = 0; round < 3; ++round) {
    for (const std::uint64_t at : {0u, 65536u, 131072u}) {
      const float base = static_cast<float>(round) + static_cast<float>(at);
      write(at, numbers(base));
      write(at + 4096, std::vector<float>(kCount, -1));
      call(steps, {at, 999999, at + 4096});
      const std::vector<float> out = read<float>(at + 4096, kCount);
      EXPECT_EQ(out[0], 7 + 3 * base);
      EXPECT_EQ(out[127], 7 + 3 * (base + 127));
      EXPECT_EQ(out[128], out[0]);
      EXPECT_EQ(out[128 + 16], out[8]);
      EXPECT_EQ(out[250], base);
      EXPECT_EQ(out[224] + out[226], 18);
      EXPECT_EQ(out[225], 7 + 3 * (base + 225));
      EXPECT_EQ(bits_of(out[254]) & 0xffff, 0u);
      EXPECT_EQ(bits_of(out[255]) & 0xffff, 0u);
    }
  }
}

TEST_P(GpuRecordedPlan, MoreAddressesThanGraphs_StayRight) {
  hone_kernel* steps = entry(every_step(plan()), 3);
  for (int round = 0; round < 2; ++round) {
    for (std::uint64_t i = 0; i < 140; ++i) {
      const std::uint64_t at = i * 16384;
      write(at, numbers(static_cast<float>(i)));
      call(steps, {at, 0, at + 8192});
      EXPECT_EQ(read<float>(at + 8192, 1)[0], 7 + 3 * static_cast<float>(i));
    }
  }
}

/// A plan with an autotuned kernel: one configuration fills private memory many times, the other one does not. A call
/// writes which one it ran to argument 1, and adds 1 to argument 2.
Plan tuned(Plan made, std::uint32_t slow) {
  made.memories = {task(0), task(1, 4), task(2), scratch(0, std::uint64_t{4} << 20)};
  made.tuned = {{"", {"first", "second"}, {}}};
  for (const std::uint32_t configuration : {0u, 1u}) {
    const Fill busy{{3, 0}, 4, 0, std::uint64_t{1} << 20, 1, 0};
    if (configuration == slow) made.run.insert(made.run.end(), 50, {0, busy, 1, configuration});
    const auto mark = static_cast<std::uint32_t>(bits_of(static_cast<float>(configuration + 7)));
    made.run.push_back({0, Fill{{1, 0}, 4, mark, 1, 1, 0}, 1, configuration});
  }
  made.run.push_back({0, launch_of(kAddKernel, {0, 2, 2})});
  made.memories[3].last = static_cast<std::uint32_t>(made.run.size() - 1);
  return made;
}

TEST_P(GpuRecordedPlan, AutotunedKernel_RunsItsFastestConfiguration) {
  for (const std::uint32_t slow : {0u, 1u}) {
    hone_kernel* entry_of_call = entry(tuned(plan(), slow), 3);
    write(0, std::vector<float>(kCount, 1));
    write(8192, numbers(5));
    for (float call_number = 1; call_number <= 3; ++call_number) {
      call(entry_of_call, {0, 4096, 8192});
      EXPECT_EQ(read<float>(4096, 1)[0], slow == 0 ? 8 : 7) << "the slow one is " << slow;
      std::uint32_t chosen = 9, count = 0;
      HONE_OKAY(chosen_configurations(entry_of_call, &chosen, 1, &count, error));
      EXPECT_EQ(count, 1u);
      EXPECT_EQ(chosen, 1 - slow);
      EXPECT_EQ(read<float>(8192, 2), (std::vector<float>{5 + call_number, 6 + call_number}))
          << "the calls that were timed changed the task's tensors";
    }
  }
}

TEST_P(GpuRecordedPlan, FailedAllocation_LeavesTheMemoryToOthers) {
  if (named_by_environment()) return;
  const std::uint64_t before = free_memory();
  Plan made = plan();
  made.memories = {task(0), scratch(0), scratch(0, before)};
  made.run = {{0, launch_of(kScaleKernel, {0, 1})}};
  EXPECT_NE(refusal(made).words, "");
  EXPECT_GE(free_memory(), before - (std::uint64_t{1} << 30)) << "an eighth stays mapped";
}

TEST_P(GpuRecordedPlan, ConfigurationThatTheDeviceRefuses_IsNotChosen) {
  Plan made = tuned(plan(), 1);
  Launch refused = launch_of(kScaleKernel, {3, 3});
  refused.block = {1024, 1, 1};
  refused.grid = {65536, 1, 1};
  refused.cooperative = true;
  made.run[0] = {0, refused, 1, 0};
  write(0, std::vector<float>(kCount, 1));
  call(entry(made, 3), {0, 4096, 8192});
  EXPECT_EQ(read<float>(4096, 1)[0], 8);
}

TEST_P(GpuRecordedPlan, TwoStreams_AreJoinedByTheirEvents) {
  Plan made = plan();
  made.memories = {task(0), task(1), scratch(5), scratch(5), factor()};
  made.setup = {{1, Write{{4, 0}, bytes_of(2), {}}}, {1, Record{0}}};
  made.streams = 2;
  made.events = 2;
  made.run = {
      {0, launch_of(kScaleKernel, {0, 2})}, {0, Record{0}}, {1, Wait{0}},
      {1, launch_of(kScaleKernel, {2, 3})}, {1, Record{1}}, {1, launch_of(kAddKernel, {2, 3, 1})}};
  hone_kernel* both = entry(made, 2);
  for (const std::uint64_t at : {0u, 65536u, 0u}) {
    write(at, numbers(5));
    call(both, {at, at + 4096});
    EXPECT_EQ(read<float>(at + 4096, 2), (std::vector<float>{30, 36}));
  }
}

TEST_P(GpuRecordedPlan, TensorMap_IsEncodedForEachAddress) {
  Plan made = plan();
  made.memories = {task(0), task(1)};
  Launch one = launch_of(kMappedKernel, {});
  one.parameters.assign(192, '\0');
  one.addresses = {{128, {1, 0}}};
  recorded::TensorMap map;
  map.type = 7;
  map.rank = 1;
  map.place = {0, 16};
  map.sizes = {252};
  map.box = {64};
  map.element_strides = {1};
  one.tensor_maps = {map};
  one.grid = {1, 1, 1};
  made.run = {{0, one}};
  if (named_by_environment()) return;  // the kernel reads an emulated map
  if (!cuda()) {
    hone_kernel* mapped = entry(made, 2);
    EXPECT_THAT(launch(mapped, shape({0, 4096})).words,
                HasSubstr("recorded plan/run/0: tensor map: the device does not support"));
    return;
  }
  hone_kernel* mapped = entry(made, 2);
  for (const std::uint64_t at : {0u, 65536u}) {
    write(at, numbers(1));
    call(mapped, {at, at + 4096});
    EXPECT_EQ(read<float>(at + 4096, 1)[0], 5 + 1000 + 252);
  }
}

TEST_P(GpuRecordedPlan, WhatTheDeviceLacks_IsRefused) {
  const Plan good = [&] {
    Plan made = plan();
    made.memories = {task(0), task(1), factor()};
    made.run = {{0, launch_of(kScaleKernel, {0, 1})}};
    return made;
  }();
  Plan made = good;
  made.architecture = "sm_80";
  EXPECT_THAT(refusal(made).words, HasSubstr("the plan was recorded for sm_80, the device is"));
  made = good;
  made.images[0].bytes = "// PTX\n.version 8.0\n";
  EXPECT_THAT(refusal(made).words,
              HasSubstr("recorded plan/images/0: expected a whole ELF file of 64 bits"));
  made = good;
  made.images[0].bytes.resize(made.images[0].bytes.size() - 1);
  EXPECT_THAT(refusal(made).words, HasSubstr("expected a whole ELF file"));
  made = good;
  made.kernels[1].name = "gone";
  EXPECT_THAT(refusal(made).words, HasSubstr("kernel 'gone': "));
  made = good;
  made.kernels[1].shared_bytes_max = 1 << 20;
  EXPECT_THAT(refusal(made).words, HasSubstr("1048576 bytes of shared memory a block"));
  made = good;
  made.memories[2].name = "gone";
  EXPECT_THAT(refusal(made).words, HasSubstr("variable 'gone': "));
  made = good;
  made.memories[2] = factor(8);
  EXPECT_EQ(refusal(made).words, "variable 'factor' has 4 bytes, the plan uses 8");
  made = good;
  made.memories.push_back(scratch(0, std::uint64_t{1} << 40));
  EXPECT_THAT(refusal(made).words, HasSubstr("bytes of private memory; the device has"));
  made = good;
  made.run[0].stream = 1;
  EXPECT_THAT(refusal(made).words,
              HasSubstr("recorded plan/run/0 (launch): stream: expected 0 to 0"));
  made = good;
  made.setup = {{0, Fill{{2, 0}, 1, 0, 4, 1, 0}}, {0, launch_of(kScaleKernel, {2, 2})}};
  std::get<Launch>(made.setup[1].work).block = {1024, 1, 1};
  std::get<Launch>(made.setup[1].work).cluster = {4, 1, 1};
  std::get<Launch>(made.setup[1].work).grid = {65536, 1, 1};
  std::get<Launch>(made.setup[1].work).cooperative = true;
  EXPECT_THAT(refusal(made).words, HasSubstr("recorded plan/setup/1: kernel '"));
}

TEST_P(GpuRecordedPlan, ParametersThatAreTooShort_AreRefused) {
  if (!cuda()) return;  // HIP's runtime does not tell a kernel's arguments
  Plan made = plan();
  made.memories = {task(0), task(1)};
  made.run = {{0, launch_of(kAddKernel, {0, 1})}};
  EXPECT_THAT(launch(entry(made, 2), shape({0, 0})).words,
              HasSubstr("takes 24 bytes of parameters, the launch gives 16"));
}

TEST_P(GpuRecordedPlan, ArgumentsThatItDoesNotGet_AreRefused) {
  Plan made = plan();
  made.memories = {task(0), task(2)};
  made.run = {{0, launch_of(kScaleKernel, {0, 1})}};
  Said got;
  hone_artifact* artifact = load_bytes(recorded::write_plan(made), &got);
  ASSERT_EQ(got.words, "");
  EXPECT_EQ(get_kernel(artifact, "call", {0, 0}).words,
            "the plan uses argument 2, counted from 0, and its launch gives 2");
  EXPECT_EQ(get_kernel(artifact, "call", {0, 0, HONE_ARGUMENT_I32}).words,
            "the plan uses argument 2, counted from 0, which is no buffer");
  hone_kernel* scale = kernel(artifact, "call", {0, HONE_ARGUMENT_I32, 0});
  EXPECT_EQ(launch(scale, shape({0, 0})).words, "2 arguments, the kernel takes 3");
  EXPECT_EQ(launch(scale, shape({0, 0, kBytes - 4})).words,
            "argument 2 of the plan has 1024 bytes at 8388604 of a buffer of 8388608");
  EXPECT_EQ(launch(scale, shape({~0ull, 0, 0})).code, HONE_INVALID_ARGUMENT);
}

TEST_P(GpuRecordedPlan, MalformedFile_IsRefused) {
  Said got;
  load_bytes(std::string(recorded::kMagic) + "garbage", &got);
  EXPECT_EQ(got.code, HONE_INVALID_ARGUMENT);
  EXPECT_THAT(got.words, HasSubstr("recorded plan: "));
  const std::string file = recorded::write_plan(every_step(plan()));
  load_bytes(file.substr(0, file.size() - 1), &got);
  EXPECT_THAT(got.words, HasSubstr("recorded plan: messagepack: cut off"));
}

TEST_P(GpuRecordedPlan, FaultOfAStep_IsTold) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto run = [&] {
    Plan made = plan();
    made.memories = {task(0), task(1), scratch(1)};
    made.run = {{0, launch_of(kScaleKernel, {0, 2})}, {0, launch_of(kScaleKernel, {0, 1})}};
    std::get<Launch>(made.run[1].work).addresses.pop_back();  // writes to address 0
    hone_kernel* broken = entry(made, 2);
    Said got = launch(broken, shape({0, 4096}));
    if (got.code == HONE_OK) got = wait();
    std::fprintf(stderr, "%s\n", got.words.c_str());
    OnDevice::TearDown();
    std::_Exit(got.code == HONE_FAILED_PRECONDITION && !HasFailure() ? 0 : 1);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "illegal memory access");
}

TEST_P(GpuRecordedPlan, PlansOneAfterAnother_UseTheSameMemory) {
  if (named_by_environment()) return;  // others may use the device
  const std::uint64_t before = free_memory();
  Plan made = plan();
  made.memories = {task(0), task(1), scratch(1, 5 << 20)};
  made.run = {{0, launch_of(kAddKernel, {0, 2, 1})}, {0, launch_of(kScaleKernel, {0, 2})}};
  const std::uint64_t held = 6 << 20;  // in whole units
  for (int i = 0; i < 2; ++i) {
    hone_kernel* add = entry(made, 2);
    EXPECT_EQ(free_memory(), before - held);
    write(0, numbers(1));
    call(add, {0, 4096});
    EXPECT_EQ(read<float>(4096, 1)[0], 1) << "private memory begins as zeros";
    call(add, {0, 4096});
    EXPECT_EQ(read<float>(4096, 1)[0], 2) << "and keeps its values between calls";
    unload(artifacts_.back());
    EXPECT_EQ(free_memory(), before - held) << "memory is kept for the next plan";
  }
}

TEST_P(GpuRecordedPlan, MemoryBeyondAnEighth_IsGivenBack) {
  if (named_by_environment()) return;
  const std::uint64_t before = free_memory();
  const std::uint64_t eighth = std::uint64_t{1} << 30;
  Plan made = plan();
  made.memories = {task(0), scratch(0), scratch(0, eighth)};
  made.run = {{0, launch_of(kScaleKernel, {0, 1})}};
  entry(made, 1);
  EXPECT_LT(free_memory(), before - eighth);
  unload(artifacts_.back());
  EXPECT_EQ(free_memory(), before - eighth);
}

TEST_P(GpuRecordedPlan, ClosedDevice_GivesAllMemoryBack) {
  if (named_by_environment()) return;
  const Plan made = every_step(plan());
  const std::uint64_t before = free_memory();
  hone_device* const first = device_;
  hone_buffer* const buffer = buffer_;
  HONE_OKAY(open_device(backend().host(), 0, &device_, error));
  HONE_OKAY(create_buffer(device_, kBytes, &buffer_, error));
  for (int i = 0; i < 3; ++i) {
    call(entry(made, 3), {0, 0, 4096});
    unload(artifacts_.back());
  }
  EXPECT_LT(free_memory(), before);
  table().release_buffer(buffer_);
  table().close_device(device_);
  device_ = first;
  buffer_ = buffer;
  EXPECT_EQ(free_memory(), before);
}

INSTANTIATE_TEST_SUITE_P(Vendor, GpuRecordedPlan, testing::ValuesIn(vendors()), tested_name);

}  // namespace
}  // namespace hone::test
