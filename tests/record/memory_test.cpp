// Memory: addresses, copies and fills.
#include <cstring>

#include "recorder.hpp"

namespace hone::test {
namespace {

using namespace record;
using Address = unsigned long long;

RECORD_TEST(MemoryRanges, Allocations_AreFarApartAndNeverUsedTwice) {
  begin();
  const std::uint64_t a = allocate(100), b = allocate(100);
  EXPECT_EQ(a % 512, 0u);
  EXPECT_GE(b - (a + 100), std::uint64_t{2} << 20);
  EXPECT_EQ(driver("cuMemFree_v2", Address{b}), 0);
  EXPECT_EQ(driver("cuMemFree_v2", Address{b}), kInvalidValue) << "twice";
  EXPECT_NE(allocate(100), b);
  const std::uint64_t task =
      driver<std::uint64_t>("hone_record_task_memory", 0u, std::uint64_t{64});
  EXPECT_EQ(task % 4096, 256u) << "as the arena places tensors";
}

RECORD_TEST(MemoryRanges, MoreThanTheDeviceHas_IsOutOfMemory) {
  begin(R"({"memory_bytes": 1048576})");
  Address address = 0;
  EXPECT_EQ(driver("cuMemAlloc_v2", &address, std::size_t{1} << 21), kOutOfMemory);
  allocate(1 << 19);
  EXPECT_EQ(driver("cuMemAlloc_v2", &address, std::size_t{3} << 18), kOutOfMemory);
  EXPECT_EQ(problem(), "");
}

RECORD_TEST(MemoryRanges, PointerAttributes_TellDeviceMemoryFromHostMemory) {
  begin();
  const std::uint64_t x = allocate(64);
  unsigned type = 0;
  EXPECT_EQ(driver("cuPointerGetAttribute", &type, 2, Address{x + 8}), 0);
  EXPECT_EQ(type, 2u);
  EXPECT_EQ(driver("cuPointerGetAttribute", &type, 2, reinterpret_cast<Address>(&type)),
            kInvalidValue);
  Address start = 0;
  std::size_t bytes = 0;
  EXPECT_EQ(driver("cuMemGetAddressRange_v2", &start, &bytes, Address{x + 8}), 0);
  EXPECT_EQ(start, x);
  EXPECT_EQ(bytes, 64u);
}

RECORD_TEST(Copies, FromTheHost_AreTheBytesOfThatMomentWithTheirAddresses) {
  begin();
  const std::uint64_t table = allocate(24), target = allocate(64);
  std::uint64_t words[3] = {17, target + 4, 0};
  driver("hone_record_run_begin");
  const void* const from = words;
  EXPECT_EQ(driver("cuMemcpyHtoDAsync_v2", Address{table}, from, sizeof words, nullptr), 0);
  words[0] = 99;
  driver("hone_record_run_end");
  const recorded::Plan plan = finish();
  ASSERT_EQ(plan.run.size(), 1u);
  const auto& write = std::get<recorded::Write>(plan.run[0].work);
  EXPECT_EQ(write.bytes[0], 17);
  ASSERT_EQ(write.addresses.size(), 1u);
  EXPECT_EQ(write.addresses[0].at, 8u);
  EXPECT_EQ(write.addresses[0].place.offset, 4u);
}

RECORD_TEST(Copies, OnTheDevice_KeepRowsAndPitches) {
  begin();
  const std::uint64_t a = allocate(4096), b = allocate(4096);
  Copy2D rows{};
  rows.from = {4, 1, kMemoryDevice, nullptr, a, nullptr, 64};
  rows.to = {0, 0, kMemoryDevice, nullptr, b, nullptr, 32};
  rows.width_bytes = 16;
  rows.height = 3;
  driver("hone_record_run_begin");
  const Copy2D* const given = &rows;
  EXPECT_EQ(driver("cuMemcpy2DAsync_v2", given, nullptr), 0);
  EXPECT_EQ(driver("cuMemcpyDtoD_v2", Address{b}, Address{a}, std::size_t{8192}), kInvalidValue)
      << "beyond the memory";
  driver("hone_record_run_end");
  const recorded::Plan plan = finish();
  ASSERT_EQ(plan.run.size(), 1u);
  const auto& copy = std::get<recorded::Copy>(plan.run[0].work);
  EXPECT_EQ(copy.from.offset, 68u);
  EXPECT_EQ(copy.rows, 3u);
  EXPECT_EQ(copy.to_pitch, 32u);
  EXPECT_EQ(copy.bytes, 16u);
}

RECORD_TEST(Copies, Fills_KeepTheirWidth) {
  begin();
  const std::uint64_t a = allocate(64);
  driver("hone_record_run_begin");
  EXPECT_EQ(driver("cuMemsetD32Async", Address{a + 8}, 0x01020304u, std::size_t{4}, nullptr), 0);
  driver("hone_record_run_end");
  const recorded::Plan plan = finish();
  ASSERT_EQ(plan.run.size(), 1u);
  const auto& fill = std::get<recorded::Fill>(plan.run[0].work);
  EXPECT_EQ(fill.width, 4u);
  EXPECT_EQ(fill.value, 0x01020304u);
  EXPECT_EQ(fill.count, 4u);
  EXPECT_EQ(fill.to.offset, 8u);
}

RECORD_TEST(Copies, ToTheHost_FailAndAreAProblem) {
  begin();
  const std::uint64_t a = allocate(64);
  char byte = 0;
  void* const to = &byte;
  EXPECT_EQ(driver("cuMemcpyDtoH_v2", to, Address{a}, std::size_t{1}), kNotSupported);
  EXPECT_EQ(problem(), "a value was read back");
}

RECORD_TEST(Copies, OnTheHost_AreMade) {
  begin();
  std::uint64_t from = 5, to = 0;
  EXPECT_EQ(driver("cuMemcpy", reinterpret_cast<Address>(&to), reinterpret_cast<Address>(&from),
                   sizeof to),
            0);
  EXPECT_EQ(to, 5u);
  EXPECT_EQ(problem(), "");
}

}  // namespace
}  // namespace hone::test
