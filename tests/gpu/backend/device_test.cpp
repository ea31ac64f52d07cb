// The plugins' devices over the emulated driver: facts, memory, copies, artifacts and launches.
#include "gpu/backend/fixture.hpp"

namespace hone::test {
namespace {

using testing::HasSubstr;

constexpr char kAdd[] =
    "extern \"C\" __global__ void add(const float* x, float* y, int n, float by) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) y[i] = x[i] + by;\n"
    "}\n"
    "extern \"C\" __global__ void wide(const double* at, long long n, double by) {\n"
    "  if (threadIdx.x == 0) ((double*)at)[n] = by;\n"
    "}\n";

std::uint64_t bits_of(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

Value facts_of(hone_device* device) {
  std::string bytes;
  hone_sink sink{sizeof(hone_sink), &bytes, [](void* self, const void* data, std::size_t size) {
                   static_cast<std::string*>(self)->append(static_cast<const char*>(data), size);
                   return std::int32_t{HONE_OK};
                 }};
  const Said got = said([&](hone_error* error) { return table().facts(device, &sink, error); });
  EXPECT_EQ(got.code, HONE_OK) << got.words;
  return from_msgpack(bytes).value();
}

class GpuDevice : public OnDevice {
 protected:
  static bool cuda() { return vendor()->name == "cuda"; }
};

TEST_P(GpuDevice, TellsWhatItIs) {
  const Value facts = facts_of(device_);
  EXPECT_EQ(*facts.find("index"), Value(0));
  EXPECT_EQ(text_of(facts, "architecture"), vendor()->architecture);
  EXPECT_THAT(text_of(facts, "driver"), HasSubstr(cuda() ? "CUDA " : "HIP "));
  EXPECT_GT(facts.find("memory_bytes")->as_int(), 1 << 30);
  EXPECT_GT(facts.find("multiprocessors")->as_int(), 0);
  EXPECT_GT(facts.find("bytes_per_second_max")->as_double(), 1e11);
  EXPECT_GT(facts.find("dram_bytes_per_second")->as_double(), 1e10);
  EXPECT_TRUE(facts.find("throttled")->is_array());
  const Value& limits = *facts.find("limits");
  EXPECT_EQ(*limits.find("block_threads"), Value(1024));
  EXPECT_EQ(limits.find("grid")->as_array().size(), 3u);
  if (vendor()->real) return;
  EXPECT_EQ(*facts.find("host_memory_reachable"), Value(false));
  // 4 multiprocessors, 128 bytes a cycle, 1.98 GHz; 6144 bits twice at 3.201 GHz
  EXPECT_DOUBLE_EQ(facts.find("bytes_per_second_max")->as_double(), 4 * 128 * 1.98e9);
  EXPECT_DOUBLE_EQ(facts.find("dram_bytes_per_second")->as_double(), 2 * 3.201e9 * 6144 / 8);
  EXPECT_EQ(*limits.find("cluster"), Value(cuda() ? 8 : 0));
}

TEST_P(GpuDevice, RefusesADeviceThatIsNotThere) {
  hone_device* other = nullptr;
  const Said got = said(
      [&](hone_error* error) { return table().open_device(backend().host(), 99, &other, error); });
  EXPECT_EQ(got.code, HONE_NOT_FOUND);
  EXPECT_THAT(got.words, testing::MatchesRegex("device 99: the driver sees [0-9]+"));
}

TEST_P(GpuDevice, ItsMemoryStartsAsZerosAndIsItsAlone) {
  EXPECT_EQ(table().map_buffer(buffer_), nullptr);
  EXPECT_NE(table().buffer_address(buffer_), 0u);
  EXPECT_EQ(read<int>(0, 1000), std::vector<int>(1000, 0));
  EXPECT_EQ(read<int>(kBytes - 4, 1), std::vector<int>(1, 0));
}

TEST_P(GpuDevice, AnotherMappingOfItsDescriptorIsTheSameMemory) {
  std::int32_t fd = -1;
  HONE_OKAY(export_buffer(buffer_, &fd, error));
  hone_buffer* other = nullptr;
  HONE_OKAY(import_buffer(device_, fd, kBytes, &other, error));
  close(fd);
  const std::vector<int> data{1, 2, 3};
  HONE_OKAY(write_buffer(other, 4096, data.data(), 12, error));
  EXPECT_EQ(read<int>(4096, 3), data);
  EXPECT_NE(table().buffer_address(other), table().buffer_address(buffer_));
  table().release_buffer(other);
  EXPECT_EQ(read<int>(4096, 3), data);
}

TEST_P(GpuDevice, ImportsNoMoreThanThereIs) {
  std::int32_t fd = -1;
  HONE_OKAY(export_buffer(buffer_, &fd, error));
  hone_buffer* other = nullptr;
  const Said got = said([&](hone_error* error) {
    return table().import_buffer(device_, fd, 4 * kBytes, &other, error);
  });
  close(fd);
  EXPECT_NE(got.code, HONE_OK);
  EXPECT_EQ(other, nullptr);
}

TEST_P(GpuDevice, CopiesAndReadsRows) {
  std::vector<std::uint32_t> data(1 << 16);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::uint32_t>(i);
  HONE_OKAY(write_buffer(buffer_, 0, data.data(), data.size() * 4, error));
  HONE_OKAY(copy_buffer(buffer_, 1 << 20, buffer_, 0, data.size() * 4, error));
  HONE_OKAY(wait(device_, error));
  EXPECT_EQ(read<std::uint32_t>(1 << 20, data.size()), data);
  void* pinned = nullptr;
  HONE_OKAY(pin_memory(device_, 1 << 16, &pinned, error));
  HONE_OKAY(read_rows(buffer_, (1 << 20) + 128, 4096, 128, 60, pinned, error));
  const auto* rows = static_cast<const std::uint32_t*>(pinned);
  for (std::uint32_t row = 0; row < 60; ++row) {
    for (std::uint32_t i = 0; i < 32; ++i) ASSERT_EQ(rows[row * 32 + i], 32 + row * 1024 + i);
  }
}

TEST_P(GpuDevice, RefusesWhatLiesBeyondTheBuffer) {
  char byte[128] = {};
  const auto refused = [](auto&& call) { return said(call).code == HONE_INVALID_ARGUMENT; };
  EXPECT_TRUE(
      refused([&](hone_error* e) { return table().write_buffer(buffer_, kBytes, byte, 1, e); }));
  EXPECT_TRUE(
      refused([&](hone_error* e) { return table().read_buffer(buffer_, kBytes - 1, byte, 2, e); }));
  EXPECT_TRUE(refused(
      [&](hone_error* e) { return table().copy_buffer(buffer_, 0, buffer_, kBytes - 1, 2, e); }));
  EXPECT_TRUE(refused(
      [&](hone_error* e) { return table().read_rows(buffer_, 0, kBytes, 128, 2, byte, e); }));
  EXPECT_TRUE(refused(
      [&](hone_error* e) { return table().read_rows(buffer_, 0, ~0ull / 2, 1, 4, byte, e); }));
  EXPECT_TRUE(
      refused([&](hone_error* e) { return table().read_rows(buffer_, 0, 64, 128, 1, byte, e); }));
}

TEST_P(GpuDevice, LaunchesWithBuffersAndScalars) {
  HONE_OKAY(prepare_load(device_, 1, error));
  load(kAdd, {"add", "wide"});
  const std::vector<float> x{1, 2, 3, 4};
  HONE_OKAY(write_buffer(buffer_, 256, x.data(), 16, error));
  hone_kernel* add = kernel(
      "add", {HONE_ARGUMENT_BUFFER, HONE_ARGUMENT_ADDRESS, HONE_ARGUMENT_I32, HONE_ARGUMENT_F32});
  ASSERT_NE(add, nullptr);
  const std::uint64_t address = table().buffer_address(buffer_) + 4096;
  ASSERT_EQ(launch(add, shape({256, address, 3, bits_of(0.5f)})).words, "");
  hone_kernel* wide = kernel("wide", {HONE_ARGUMENT_BUFFER, HONE_ARGUMENT_I64, HONE_ARGUMENT_F64});
  double by = 2.5;
  std::uint64_t bits = 0;
  std::memcpy(&bits, &by, sizeof bits);
  ASSERT_EQ(launch(wide, shape({8192, 3, bits})).words, "");
  ASSERT_EQ(wait().words, "");
  EXPECT_EQ(read<float>(4096, 4), (std::vector<float>{1.5, 2.5, 3.5, 0}));
  EXPECT_EQ(read<double>(8192, 4), (std::vector<double>{0, 0, 0, 2.5}));
}

TEST_P(GpuDevice, RunsAnInstanceOfATemplateWithMuchSharedMemory) {
  load(
      "template <int N> __global__ void turned(int* x) {\n"
      "  extern __shared__ int kept[];\n"
      "  kept[threadIdx.x * 512] = threadIdx.x * N;\n"
      "  __syncthreads();\n"
      "  x[threadIdx.x] = kept[(31 - threadIdx.x) * 512];\n"
      "}\n",
      {"turned<7>"});
  hone_kernel* turned = kernel("turned<7>", {HONE_ARGUMENT_BUFFER});
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

TEST_P(GpuDevice, RefusesArgumentsThatAreNotTheKernels) {
  load(kAdd, {"add"});
  const auto get = [&](const char* entry, const std::vector<std::uint32_t>& kinds) {
    hone_kernel* found = nullptr;
    return said([&](hone_error* error) {
      return table().get_kernel(artifacts_.back(), entry, kinds.data(),
                                static_cast<std::uint32_t>(kinds.size()), &found, error);
    });
  };
  EXPECT_EQ(get("gone", {}).code, HONE_NOT_FOUND);
  EXPECT_EQ(get("gone", {}).words, "no kernel 'gone' in the artifact");
  EXPECT_EQ(get("add", {77, 0, 0, 0}).words, "argument kind 77");
  EXPECT_EQ(get("add", std::vector<std::uint32_t>(17, 0)).words,
            "17 arguments, at most 16 allowed");
  hone_kernel* add = kernel("add", {0, 0, HONE_ARGUMENT_I32, HONE_ARGUMENT_F32});
  EXPECT_EQ(launch(add, shape({0, 0})).words, "2 arguments, the kernel takes 4");
  if (!cuda()) return;  // HIP's runtime does not tell a kernel's arguments
  EXPECT_EQ(get("add", {0, 0, HONE_ARGUMENT_I32}).words,
            "kernel 'add' takes more than the 3 arguments that its launch gives");
  EXPECT_EQ(get("add", {0, 0, HONE_ARGUMENT_I64, HONE_ARGUMENT_F32}).words,
            "kernel 'add': argument 3 has 4 bytes, its launch gives 8");
  EXPECT_EQ(get("add", {0, 0, HONE_ARGUMENT_I32, HONE_ARGUMENT_F32, 0}).words,
            "kernel 'add' takes 4 arguments, its launch gives 5");
}

TEST_P(GpuDevice, RefusesLaunchesThatItCannotStart) {
  load(kAdd, {"add"});
  hone_kernel* add = kernel("add", {0, 0, HONE_ARGUMENT_I32, HONE_ARGUMENT_F32});
  const std::vector<std::uint64_t> values{0, 4096, 1, 0};
  const Said threads = launch(add, shape(values, 1, 2048));
  EXPECT_EQ(threads.code, HONE_INVALID_ARGUMENT);
  EXPECT_THAT(threads.words, HasSubstr("kernel 'add': the device cannot start a launch"));
  EXPECT_EQ(launch(add, shape(values, 0)).code, HONE_INVALID_ARGUMENT);
  hone_launch together = shape(values, 1 << 20);
  together.flags = HONE_LAUNCH_COOPERATIVE;
  EXPECT_EQ(launch(add, together).code, HONE_RESOURCE_EXHAUSTED);
  EXPECT_EQ(wait().words, "");  // nothing of this harms the context
}

TEST_P(GpuDevice, RefusesArtifactsThatAreNone) {
  for (const std::string& bytes :
       {std::string(), std::string("garbage"), to_msgpack(Value::map())}) {
    const int fd = memfd_create("artifact", MFD_CLOEXEC);
    ASSERT_EQ(write(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    hone_artifact* artifact = nullptr;
    EXPECT_NE(
        said([&](hone_error* error) { return table().load(device_, fd, &artifact, error); }).code,
        HONE_OK);
    EXPECT_EQ(artifact, nullptr);
    close(fd);
  }
}

INSTANTIATE_TEST_SUITE_P(Vendor, GpuDevice, testing::ValuesIn(vendors()), vendor_name);

}  // namespace
}  // namespace hone::test
