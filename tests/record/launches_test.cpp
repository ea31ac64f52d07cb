// Launches: parameters, addresses, limits and attributes.
#include <cstring>

#include "record/driver/device.hpp"
#include "recorder.hpp"

namespace hone::test {
namespace {

using namespace record;

recorded::Launch last_launch() {
  driver("hone_record_run_end");
  const recorded::Plan plan = finish();
  if (plan.run.empty()) return {};
  return std::get<recorded::Launch>(plan.run.back().work);
}

int launch_with(void* kernel, std::uint64_t x, std::uint64_t y, LaunchConfig config) {
  std::uint32_t count = 0;
  void* parameters[] = {&x, &y, &count};
  void **const all = parameters, **const none = nullptr;
  const LaunchConfig* const given = &config;
  return driver("cuLaunchKernelEx", given, kernel, all, none);
}

LaunchConfig one_block() {
  LaunchConfig config{};
  for (unsigned& one : config.grid) one = 1;
  for (unsigned& one : config.block) one = 1;
  return config;
}

RECORD_TEST(Launches, WordsInsideOfMemory_AreRelocations) {
  begin();
  void* const kernel = load_kernel();
  const std::uint64_t x = allocate(64), y = allocate(64);
  driver("hone_record_run_begin");
  EXPECT_EQ(launch(kernel, {x + 8, y + 64, 5}), 0);
  const recorded::Launch step = last_launch();
  ASSERT_EQ(step.addresses.size(), 2u);
  EXPECT_EQ(step.addresses[0].at, 0u);
  EXPECT_EQ(step.addresses[0].place.offset, 8u);
  EXPECT_EQ(step.addresses[1].at, 8u);
  EXPECT_EQ(step.addresses[1].place.offset, 64u) << "the end of memory is a place in it";
  ASSERT_EQ(step.parameters.size(), 20u);
  std::uint32_t count = 0;
  std::memcpy(&count, step.parameters.data() + 16, sizeof count);
  EXPECT_EQ(count, 5u);
}

RECORD_TEST(Launches, FreedMemory_IsAProblem) {
  begin();
  void* const kernel = load_kernel();
  const std::uint64_t y = allocate(64);
  unsigned long long x = allocate(64);
  EXPECT_EQ(driver("cuMemFree_v2", x), 0);
  EXPECT_EQ(launch(kernel, {x, y, 0}), kNotSupported);
  EXPECT_EQ(problem(), "a kernel gets an address of freed memory");
}

RECORD_TEST(Launches, AddressBehindMemory_IsAProblem) {
  begin();
  void* const kernel = load_kernel();
  const std::uint64_t y = allocate(64);
  EXPECT_EQ(launch(kernel, {y + 65, y, 0}), kNotSupported);
  EXPECT_EQ(problem(), "a kernel gets an address outside of any memory");
}

RECORD_TEST(Launches, PinnedHostMemory_IsAProblem) {
  begin();
  void* const kernel = load_kernel();
  const std::uint64_t y = allocate(64);
  void* host = nullptr;
  const std::size_t bytes = 4096;
  EXPECT_EQ(driver("cuMemHostAlloc", &host, bytes, 0u), 0);
  EXPECT_EQ(launch(kernel, {reinterpret_cast<std::uint64_t>(host), y, 0}), kNotSupported);
  EXPECT_EQ(problem(), "a kernel gets an address of host memory");
}

RECORD_TEST(Launches, ParametersInABuffer_AreTheSame) {
  begin();
  void* const kernel = load_kernel();
  std::uint64_t buffer[3] = {allocate(64), allocate(64), 9};
  std::size_t size = 20;
  void* extra[] = {reinterpret_cast<void*>(1), buffer, reinterpret_cast<void*>(2), &size, nullptr};
  void **const none = nullptr, **const all = extra;
  void* const stream = nullptr;
  driver("hone_record_run_begin");
  EXPECT_EQ(driver("cuLaunchKernel", kernel, 2u, 1u, 1u, 1u, 1u, 1u, 0u, stream, none, all), 0);
  const recorded::Launch step = last_launch();
  EXPECT_EQ(step.addresses.size(), 2u);
  EXPECT_EQ(step.grid[0], 2u);
}

RECORD_TEST(Launches, Attributes_AreRecordedOrRefused) {
  begin();
  void* const kernel = load_kernel();
  const std::uint64_t x = allocate(64), y = allocate(64);
  LaunchAttribute attributes[4] = {};
  attributes[0].id = kLaunchCooperative;
  attributes[0].value.flag = 1;
  attributes[1].id = kLaunchClusterDimension;
  attributes[1].value.cluster[0] = 2;
  attributes[1].value.cluster[1] = attributes[1].value.cluster[2] = 1;
  attributes[2].id = kLaunchProgrammaticSerialization;
  attributes[2].value.flag = 1;
  attributes[3].id = kLaunchPriority;
  LaunchConfig config = one_block();
  config.grid[0] = 4;
  config.attributes = attributes;
  config.attribute_count = 4;
  driver("hone_record_run_begin");
  EXPECT_EQ(launch_with(kernel, x, y, config), 0);
  attributes[3].id = kLaunchCompletionEvent;
  const recorded::Launch step = last_launch();
  EXPECT_TRUE(step.cooperative);
  EXPECT_TRUE(step.overlaps);
  EXPECT_EQ(step.cluster, (std::array<std::uint32_t, 3>{2, 1, 1}));
  EXPECT_EQ(launch_with(kernel, x, y, config), kNotSupported);
  EXPECT_EQ(problem(), "launch attribute 12 is not supported");
}

RECORD_TEST(Launches, LimitsOfTheDevice_AreThoseOfADriver) {
  begin();
  void* const kernel = load_kernel({.registers = 128, .shared_bytes = 1024});
  const std::uint64_t x = allocate(64), y = allocate(64);
  LaunchConfig config = one_block();
  config.block[0] = 1025;
  EXPECT_EQ(launch_with(kernel, x, y, config), kInvalidValue);
  config.block[0] = 1024;
  EXPECT_EQ(launch_with(kernel, x, y, config), kOutOfResources) << "of registers";
  config.block[0] = 256;
  config.shared_bytes = 48 << 10;
  EXPECT_EQ(launch_with(kernel, x, y, config), kInvalidValue) << "more than 48 KiB with static";
  constexpr int kDynamicMax = kFunctionSharedDynamicMax;
  EXPECT_EQ(driver("cuFuncSetAttribute", kernel, kDynamicMax, 232448), kInvalidValue);
  EXPECT_EQ(driver("cuFuncSetAttribute", kernel, kDynamicMax, 200000), 0);
  driver("hone_record_run_begin");
  EXPECT_EQ(launch_with(kernel, x, y, config), 0);
  driver("hone_record_run_end");
  const recorded::Plan plan = finish();
  ASSERT_EQ(plan.kernels.size(), 1u);
  EXPECT_EQ(plan.kernels[0].shared_bytes_max, 200000u);
}

RECORD_TEST(Launches, DynamicSharedMemory_MayHave48KiBNextToTheReservedKiB) {
  begin();
  void* const kernel = load_kernel({.shared_bytes = 1024, .reserves_shared = true});
  const std::uint64_t x = allocate(64), y = allocate(64);
  LaunchConfig config = one_block();
  config.shared_bytes = 48 << 10;
  EXPECT_EQ(launch_with(kernel, x, y, config), 0);
  EXPECT_EQ(driver("cuFuncSetAttribute", kernel, kFunctionSharedDynamicMax, 232448), 0);
}

RECORD_TEST(Launches, Occupancy_FollowsRegistersThreadsAndSharedMemory) {
  begin();
  const auto blocks = [](void* kernel, int threads, std::size_t shared) {
    int count = -1;
    EXPECT_EQ(
        driver("cuOccupancyMaxActiveBlocksPerMultiprocessor", &count, kernel, threads, shared), 0);
    return count;
  };
  void* const light = load_kernel({.kernel = "light", .registers = 32});
  void* const heavy = load_kernel({.kernel = "heavy", .registers = 128});
  EXPECT_EQ(blocks(light, 256, 0), 8);
  EXPECT_EQ(blocks(light, 32, 0), 32);
  EXPECT_EQ(blocks(heavy, 256, 0), 2);
  EXPECT_EQ(blocks(light, 256, 100 << 10), 2);
}

RECORD_TEST(Launches, TensorMap_IsFoundByItsToken) {
  begin();
  void* const kernel = load_kernel({.parameter_bytes = {128, 8}});
  const std::uint64_t x = allocate(1 << 20);
  alignas(64) char map[kTensorMapBytes];
  void *const token = map, *const start = reinterpret_cast<void*>(x + 256);
  const std::uint64_t sizes[] = {64, 32}, strides[] = {256};
  const std::uint32_t box[] = {16, 16}, steps[] = {1, 1};
  const std::uint32_t rank = 2;
  const std::uint64_t *const all_sizes = sizes, *const all_strides = strides;
  const std::uint32_t *const all_box = box, *const all_steps = steps;
  ASSERT_EQ(driver("cuTensorMapEncodeTiled", token, 7, rank, start, all_sizes, all_strides, all_box,
                   all_steps, 0, 3, 2, 0),
            0);
  std::uint64_t y = x;
  void* parameters[] = {map, &y};
  void **const all = parameters, **const none = nullptr;
  void* const stream = nullptr;
  driver("hone_record_run_begin");
  EXPECT_EQ(driver("cuLaunchKernel", kernel, 1u, 1u, 1u, 1u, 1u, 1u, 0u, stream, all, none), 0);
  const recorded::Launch step = last_launch();
  ASSERT_EQ(step.tensor_maps.size(), 1u);
  EXPECT_EQ(step.tensor_maps[0].at, 0u);
  EXPECT_EQ(step.tensor_maps[0].place.offset, 256u);
  EXPECT_EQ(step.tensor_maps[0].type, 7u);
  EXPECT_EQ(step.tensor_maps[0].swizzle, 3u);
  EXPECT_EQ(step.tensor_maps[0].strides[0], 256u);
  EXPECT_EQ(step.parameters.substr(0, kTensorMapBytes), std::string(kTensorMapBytes, '\0'));
}

RECORD_TEST(Launches, ImagesThatAreTheSame_AreInThePlanOnce) {
  begin();
  void *const first = load_kernel(), *const second = load_kernel();
  EXPECT_NE(first, second);
  load_kernel({.kernel = "unused"});
  const std::uint64_t x = allocate(64);
  driver("hone_record_run_begin");
  EXPECT_EQ(launch(first, {x, x, 0}), 0);
  EXPECT_EQ(launch(second, {x, x, 0}), 0);
  driver("hone_record_run_end");
  const recorded::Plan plan = finish();
  EXPECT_EQ(plan.images.size(), 1u);
  EXPECT_EQ(plan.kernels.size(), 1u);
}

/// Triton sets the limit of dynamic shared memory only if a newer attribute is refused.
RECORD_TEST(Launches, AttributesOfNewerDrivers_AreRefused) {
  begin();
  void* const kernel = load_kernel();
  constexpr int kSharedMemoryMode = 17;
  int value = -7;
  EXPECT_EQ(driver("cuFuncSetAttribute", kernel, kSharedMemoryMode, 3), 1);
  EXPECT_EQ(driver("cuFuncGetAttribute", &value, kSharedMemoryMode, kernel), 1);
  EXPECT_EQ(value, -7);
  EXPECT_EQ(driver("cuFuncSetAttribute", kernel, 11, 2), 1) << "a required cluster";
  EXPECT_EQ(driver("cuFuncGetAttribute", &value, 15, kernel), 0);
  EXPECT_EQ(driver("cuFuncSetAttribute", kernel, 15, 1), 0);
  EXPECT_EQ(problem(), "");
}
}  // namespace
}  // namespace hone::test
