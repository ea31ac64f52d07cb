// Devices of the gpu plugins: figures of the emulated driver, and error messages. tests/backends has the tests
// that apply to every backend.
#include "gpu/backend/fixture.hpp"

namespace hone::test {
namespace {

using testing::HasSubstr;

constexpr char kAdd[] =
    "extern \"C\" __global__ void add(const float* x, float* y, int n, float by) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) y[i] = x[i] + by;\n"
    "}\n";

class GpuDevice : public OnDevice {};

TEST_P(GpuDevice, Facts_DescribeTheDevice) {
  const Value facts = this->facts();
  EXPECT_THAT(text_of(facts, "driver"), HasSubstr(cuda() ? "CUDA " : "HIP "));
  EXPECT_GT(facts.find("memory_bytes")->as_int(), 1 << 30);
  EXPECT_GT(facts.find("bytes_per_second_max")->as_double(), 1e11);
  EXPECT_GT(facts.find("dram_bytes_per_second")->as_double(), 1e10);
  EXPECT_TRUE(facts.find("throttled")->is_array());
  const Value& limits = *facts.find("limits");
  EXPECT_EQ(*limits.find("block_threads"), Value(1024));
  EXPECT_EQ(table().map_buffer(buffer_), nullptr);
  EXPECT_EQ(table().guard_buffer, nullptr);
  if (named_by_environment()) return;
  EXPECT_EQ(*facts.find("host_memory_reachable"), Value(false));
  // 4 multiprocessors, 128 bytes a cycle, 1.98 GHz; 6144 bits twice at 3.201 GHz
  EXPECT_DOUBLE_EQ(facts.find("bytes_per_second_max")->as_double(), 4 * 128 * 1.98e9);
  EXPECT_DOUBLE_EQ(facts.find("dram_bytes_per_second")->as_double(), 2 * 3.201e9 * 6144 / 8);
  EXPECT_EQ(*limits.find("cluster"), Value(cuda() ? 8 : 0));
}

TEST_P(GpuDevice, DeviceCount_IsReported) {
  hone_device* other = nullptr;
  const Said got = HONE_SAID(open_device(backend().host(), 99, &other, error));
  EXPECT_EQ(got.code, HONE_NOT_FOUND);
  EXPECT_THAT(got.words, testing::MatchesRegex("device 99: the driver sees [0-9]+"));
}

TEST_P(GpuDevice, LargeSharedMemory_IsGranted) {
  hone_artifact* artifact = load_plain(
      "extern \"C\" __global__ void turned(int* x) {\n"
      "  extern __shared__ int kept[];\n"
      "  kept[threadIdx.x * 512] = threadIdx.x * 7;\n"
      "  __syncthreads();\n"
      "  x[threadIdx.x] = kept[(31 - threadIdx.x) * 512];\n"
      "}\n",
      {"turned"});
  hone_kernel* turned = kernel(artifact, "turned", {HONE_ARGUMENT_BUFFER});
  ASSERT_NE(turned, nullptr);
  const std::vector<std::uint64_t> values{0};
  hone_launch much = shape(values);
  much.shared_bytes = 64 * 1024;
  ASSERT_EQ(launch(turned, much).words, "");
  ASSERT_EQ(wait().words, "");
  EXPECT_EQ(read<int>(0, 2), (std::vector<int>{217, 210}));
  much.shared_bytes = 1 << 20;
  const Said refused = launch(turned, much);
  EXPECT_EQ(refused.code, HONE_RESOURCE_EXHAUSTED);
  EXPECT_THAT(refused.words, HasSubstr("1048576 bytes of shared memory a block"));
}

TEST_P(GpuDevice, WrongArguments_AreRefused) {
  hone_artifact* artifact = load_plain(kAdd, {"add"});
  ASSERT_NE(artifact, nullptr);
  EXPECT_EQ(get_kernel(artifact, "gone", {}).words, "no kernel 'gone' in the artifact");
  if (!cuda()) return;  // HIP's runtime does not tell a kernel's arguments
  EXPECT_EQ(get_kernel(artifact, "add", {0, 0, HONE_ARGUMENT_I32}).words,
            "kernel 'add' takes more than the 3 arguments that its launch gives");
  EXPECT_EQ(get_kernel(artifact, "add", {0, 0, HONE_ARGUMENT_I64, HONE_ARGUMENT_F32}).words,
            "kernel 'add': argument 3 has 4 bytes, its launch gives 8");
  EXPECT_EQ(get_kernel(artifact, "add", {0, 0, HONE_ARGUMENT_I32, HONE_ARGUMENT_F32, 0}).words,
            "kernel 'add' takes 4 arguments, its launch gives 5");
}

TEST_P(GpuDevice, ImpossibleLaunch_IsRefused) {
  hone_kernel* add =
      kernel(load_plain(kAdd, {"add"}), "add", {0, 0, HONE_ARGUMENT_I32, HONE_ARGUMENT_F32});
  ASSERT_NE(add, nullptr);
  const std::vector<std::uint64_t> values{0, 4096, 1, 0};
  EXPECT_THAT(launch(add, shape(values, 1, 2048)).words,
              HasSubstr("kernel 'add': the device cannot start a launch"));
  hone_launch together = shape(values, 1 << 20);
  together.flags = HONE_LAUNCH_COOPERATIVE;
  EXPECT_EQ(launch(add, together).code, HONE_RESOURCE_EXHAUSTED);
  EXPECT_EQ(wait().words, "");  // nothing of this harms the context
}

INSTANTIATE_TEST_SUITE_P(Vendor, GpuDevice, testing::ValuesIn(vendors()), tested_name);

}  // namespace
}  // namespace hone::test
