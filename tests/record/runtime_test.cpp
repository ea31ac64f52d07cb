// The runtime's forms: registration, launches, symbols.
#include <cstring>

#include "record/runtime/types.hpp"
#include "recorder.hpp"

namespace hone::test {
namespace {

using namespace record;

/// What a compiler puts into programs around a fat binary.
struct Wrapper {
  std::uint32_t magic = 0x466243b1, version = 1;
  const void* fatbin = nullptr;
  const void* unused = nullptr;
};

char g_host_function, g_host_variable;

void register_program(const std::string& fatbin, Wrapper& wrapper) {
  wrapper.fatbin = fatbin.data();
  void* const given = &wrapper;
  void** const image = runtime<void**>("__cudaRegisterFatBinary", given);
  const char* const host = &g_host_function;
  char *const name = nullptr, *const variable = &g_host_variable;
  void* const none = nullptr;
  int* const no_size = nullptr;
  runtime<void>("__cudaRegisterFunction", image, host, name, "kernel", -1, none, none, none, none,
                no_size);
  runtime<void>("__cudaRegisterVar", image, variable, name, "table", 0, std::size_t{16}, 1, 0);
}

RECORD_TEST(RuntimeForms, RegisteredKernelAndVariable_AreFoundAtTheirFirstUse) {
  begin();
  CubinText text;
  text.variables = {{"table", 16, true}};
  const std::string fatbin = fatbin_file({{2, 90, cubin_file(text)}});
  Wrapper wrapper;
  register_program(fatbin, wrapper);
  driver("hone_record_run_begin");
  const void *const symbol = &g_host_variable, *const kernel = &g_host_function;
  const std::uint64_t words[2] = {1, 2};
  const void* const from = words;
  EXPECT_EQ(runtime("cudaMemcpyToSymbol", symbol, from, sizeof words, std::size_t{0}, 1), 0);
  void* memory = nullptr;
  EXPECT_EQ(runtime("cudaMalloc", &memory, std::size_t{64}), 0);
  std::uint32_t count = 3;
  void* parameters[] = {&memory, &memory, &count};
  void** const all = parameters;
  void* const stream = nullptr;
  EXPECT_EQ(runtime("cudaLaunchKernel", kernel, Dim3{2, 1, 1}, Dim3{32, 1, 1}, all, std::size_t{0},
                    stream),
            0);
  driver("hone_record_run_end");
  const recorded::Plan plan = finish();
  ASSERT_EQ(plan.run.size(), 2u);
  const auto& write = std::get<recorded::Write>(plan.run[0].work);
  EXPECT_EQ(plan.memories[write.to.memory].kind, recorded::MemoryKind::kGlobal);
  EXPECT_EQ(plan.memories[write.to.memory].name, "table");
  EXPECT_EQ(std::get<recorded::Launch>(plan.run[1].work).grid[0], 2u);
  EXPECT_EQ(plan.images.size(), 1u);
}

RECORD_TEST(RuntimeForms, ConstantsSetBeforeTheRun_AreKeptWithoutEarlierLaunches) {
  begin();
  CubinText text;
  text.variables = {{"table", 16, true}};
  const std::string fatbin = fatbin_file({{2, 90, cubin_file(text)}});
  Wrapper wrapper;
  register_program(fatbin, wrapper);
  const std::uint64_t words[2] = {1, 2};
  const void *const from = words, *const symbol = &g_host_variable;
  EXPECT_EQ(runtime("cudaMemcpyToSymbol", symbol, from, sizeof words, std::size_t{0}, 1), 0);
  const std::uint64_t x = driver<std::uint64_t>("hone_record_task_memory", 0u, std::uint64_t{64});
  std::uint64_t pointer = x;
  std::uint32_t count = 3;
  void* parameters[] = {&pointer, &pointer, &count};
  void** const all = parameters;
  const void* const kernel = &g_host_function;
  void* const stream = nullptr;
  const auto launch_once = [&] {
    EXPECT_EQ(runtime("cudaLaunchKernel", kernel, Dim3{1, 1, 1}, Dim3{32, 1, 1}, all,
                      std::size_t{0}, stream),
              0);
  };
  launch_once();
  driver("hone_record_run_begin");
  launch_once();
  driver("hone_record_run_end");
  EXPECT_EQ(finish().setup.size(), 1u);
}

RECORD_TEST(RuntimeForms, CallConfigurations_AreAStack) {
  begin();
  void* const stream = nullptr;
  runtime<unsigned>("__cudaPushCallConfiguration", Dim3{1, 2, 3}, Dim3{4, 5, 6}, std::size_t{7},
                    stream);
  Dim3 grid{}, block{};
  std::size_t shared = 0;
  void* popped = &grid;
  void* const out = &popped;
  EXPECT_EQ(runtime("__cudaPopCallConfiguration", &grid, &block, &shared, out), 0);
  EXPECT_EQ(grid.z, 3u);
  EXPECT_EQ(block.y, 5u);
  EXPECT_EQ(shared, 7u);
  EXPECT_EQ(popped, nullptr);
}

RECORD_TEST(RuntimeForms, DeviceProperties_AreThoseOfTheDriver) {
  begin(R"({"architecture": "sm_90", "name": "a device", "memory_bytes": 1000})");
  DeviceProperties properties;
  EXPECT_EQ(runtime("cudaGetDeviceProperties", &properties, 0), 0);
  EXPECT_STREQ(properties.name, "a device");
  EXPECT_EQ(properties.memory_bytes, 1000u);
  EXPECT_EQ(properties.major, 9);
  EXPECT_EQ(properties.multiprocessors, 132);
}

}  // namespace
}  // namespace hone::test
