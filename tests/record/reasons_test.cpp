// What cannot be recorded, and the device that programs see.
#include <thread>

#include "record/driver/device.hpp"
#include "recorder.hpp"

namespace hone::test {
namespace {

using namespace record;

RECORD_TEST(Reasons, UnknownFunction_IsNamed) {
  begin();
  EXPECT_EQ(driver("cuMemAllocManaged"), kNotSupported);
  EXPECT_EQ(problem(), "function cuMemAllocManaged is not supported");
  EXPECT_EQ(driver("cuGraphCreate"), kNotSupported);
  EXPECT_EQ(problem(), "function cuMemAllocManaged is not supported") << "the first reason stays";
}

RECORD_TEST(Reasons, UnknownFunctionOfTheRuntime_IsNamed) {
  begin();
  EXPECT_EQ(runtime("cudaGraphLaunch"), kNotSupported);
  EXPECT_EQ(problem(), "function cudaGraphLaunch is not supported");
  EXPECT_EQ(runtime("cudaGetLastError"), kNotSupported);
  EXPECT_EQ(runtime("cudaGetLastError"), kOk);
}

RECORD_TEST(Reasons, ATime_IsNotGiven) {
  begin();
  void* event = nullptr;
  float milliseconds = 0;
  EXPECT_EQ(driver("cuEventCreate", &event, 0u), 0);
  EXPECT_EQ(driver("cuEventElapsedTime_v2", &milliseconds, event, event), kNotSupported);
  EXPECT_EQ(problem(), "a time was asked for");
}

RECORD_TEST(Reasons, StreamCapture_IsRefused) {
  begin();
  void* const stream = nullptr;
  EXPECT_EQ(driver("cuStreamBeginCapture_v2", stream, 0), kNotSupported);
  EXPECT_EQ(problem(), "uses stream capture");
}

RECORD_TEST(Reasons, PrivateTables_AreNotServed) {
  begin();
  const void* table = &table;
  const Uuid id{};
  const Uuid* const wanted = &id;
  EXPECT_EQ(driver("cuGetExportTable", &table, wanted), kNotSupported);
  EXPECT_EQ(table, nullptr);
  EXPECT_EQ(problem(), "");
}

RECORD_TEST(Reasons, TextForAJustInTimeCompiler_IsRefused) {
  begin();
  void* module = nullptr;
  const void* const text = ".version 8.0\n.target sm_90\n.address_size 64\n                       ";
  EXPECT_EQ(driver("cuModuleLoadData", &module, text), kNotSupported);
  EXPECT_EQ(problem(), "needs a just-in-time compiler");
}

RECORD_TEST(Reasons, AReasonOfTheCaller_IsKept) {
  begin();
  const char* const reason = "its calls differ";
  driver<void>("hone_record_fail", reason);
  EXPECT_EQ(problem(), "its calls differ");
  const char* bytes = nullptr;
  std::uint64_t size = 0;
  EXPECT_EQ(driver("hone_record_finish", &bytes, &size), 0);
}

TEST(Reasons, BeforeTheBeginning_NothingIsAProblem) {
  in_child([] {
    EXPECT_EQ(driver("cuGraphCreate"), kNotSupported);
    begin();
    EXPECT_EQ(problem(), "");
    EXPECT_EQ(driver("hone_record_begin", "{}"), 0) << "once a process";
  });
}

TEST(Reasons, FactsThatAreNoJson_AreRefused) {
  in_child([] { EXPECT_EQ(driver("hone_record_begin", "{\"architecture\": "), 0); });
}

int attribute(int id) {
  int value = -1;
  EXPECT_EQ(driver("cuDeviceGetAttribute", &value, id, 0), 0);
  return value;
}

RECORD_TEST(DeviceFacts, OfTheCaller_ComeBeforeDefaults) {
  begin(R"({"architecture": "sm_80", "multiprocessors": 7, "attributes": {"13": 1410000}})");
  EXPECT_EQ(attribute(kMultiprocessors), 7);
  EXPECT_EQ(attribute(kClockKhz), 1410000);
  EXPECT_EQ(attribute(kMajor), 8);
  EXPECT_EQ(attribute(kMinor), 0);
  EXPECT_EQ(attribute(kClusters), 0);
  EXPECT_EQ(attribute(kSharedBytesMax), 166912);
  EXPECT_EQ(attribute(kWarpThreads), 32);
}

RECORD_TEST(DeviceFacts, EntryPoints_AreFoundByNameAndVersion) {
  begin();
  const auto found = [](const char* name, int version) {
    void* function = nullptr;
    int status = -1;
    driver("cuGetProcAddress_v2", name, &function, version, std::uint64_t{0}, &status);
    EXPECT_EQ(status, function != nullptr ? 0 : 1);
    return function;
  };
  EXPECT_EQ(found("cuMemAlloc", 13000), driver_function("cuMemAlloc_v2"));
  EXPECT_EQ(found("cuCtxGetDevice", 12000), driver_function("cuCtxGetDevice"));
  EXPECT_EQ(found("cuCtxGetDevice", 13000), driver_function("cuCtxGetDevice_v2"));
  EXPECT_EQ(found("cuNoSuchFunction", 13000), nullptr);
}

RECORD_TEST(Threads, CallsOfManyThreads_AreAllRecorded) {
  begin();
  void* const kernel = load_kernel();
  const std::uint64_t x = allocate(64);
  driver("hone_record_run_begin");
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int call = 0; call < 100; ++call) EXPECT_EQ(launch(kernel, {x, allocate(64), 0}), 0);
    });
  }
  for (std::thread& thread : threads) thread.join();
  driver("hone_record_run_end");
  EXPECT_EQ(finish().run.size(), 800u);
}

}  // namespace
}  // namespace hone::test
