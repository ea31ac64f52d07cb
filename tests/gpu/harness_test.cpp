// The judge's device code on the emulated driver: it generates the same data as the processor.
#include <cstring>

#include "../../plugins/backends/gpu/headers.hpp"
#include "base/files.hpp"
#include "gpu/emulated.hpp"
#include "judge/fill.hpp"
#include "places.hpp"

namespace hone {
namespace {

constexpr std::uint64_t kSeed = 20261121;

CUmodule loaded(const std::string& source, const std::vector<std::string>& kernels, Built& built) {
  CUcontext context = nullptr;
  EXPECT_EQ(cuInit(0), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
  std::vector<std::pair<const char*, const char*>> headers;
  for (const hone_gpu::Header& one : hone_gpu::headers_in_memory()) {
    headers.emplace_back(one.name, one.text);
  }
  built = build(source.c_str(), kernels, {"--gpu-architecture=sm_90"}, "task.cu", headers);
  EXPECT_EQ(built.result, NVRTC_SUCCESS) << built.log;
  CUmodule module = nullptr;
  if (built.result == NVRTC_SUCCESS) {
    EXPECT_EQ(error_name(cuModuleLoadData(&module, built.cubin.data())), "CUDA_SUCCESS");
  }
  return module;
}

/// Device memory with `bytes` of room and, where it is given, a content.
DeviceMemory memory(std::size_t bytes, const void* content = nullptr) {
  DeviceMemory made;
  EXPECT_EQ(made.make((bytes / kUnit + 1) * kUnit), CUDA_SUCCESS);
  if (content != nullptr) {
    EXPECT_EQ(cuMemcpyHtoD_v2(made.at, content, bytes), CUDA_SUCCESS);
  }
  return made;
}

TEST(Harness, FillsAsTheProcessorDoes) {
  const std::string source =
      read_file(test::source_dir() / "core/judge/harness/harness.cu").value();
  Built built;
  const CUmodule module = loaded(source, {"hone_fill"}, built);
  ASSERT_NE(module, nullptr);
  CUfunction fill = nullptr;
  HONE_CU(cuModuleGetFunction(&fill, module, built.lowered[0].c_str()));
  // The places of harness.cu; kinds whose parameters are derived from seeds are the workbench's.
  const std::pair<const char*, std::uint64_t> kinds[] = {
      {"normal", 0}, {"uniform", 1}, {"integers", 2}, {"constant", 3},
      {"cancel", 4}, {"ramp", 8},    {"offsets", 9}};
  constexpr std::uint64_t kCount = 1001;
  const DeviceMemory out = memory(kCount * 8);
  for (const auto& [kind, number] : kinds) {
    for (std::uint64_t dtype = 0; dtype < dtype_names().size(); ++dtype) {
      const auto type = static_cast<DType>(dtype);
      const Generator g{kind, 3, 4};
      std::uint64_t item[13] = {out.at, kCount, dtype, number, 0, 0, kSeed, 0, 3, 2, 0, 0, 0};
      std::memcpy(&item[4], &g.a, sizeof g.a);
      std::memcpy(&item[5], &g.b, sizeof g.b);
      const DeviceMemory table = memory(sizeof item, item);
      HONE_CU(launch(fill, shape(2, 64), table.at));
      HONE_CU(cuCtxSynchronize());
      std::vector<char> got(kCount * dtype_size(type)), expected(got.size());
      HONE_CU(cuMemcpyDtoH_v2(got.data(), out.at, got.size()));
      fill_tensor(expected.data(), type, kCount, g, kSeed);
      EXPECT_EQ(got, expected) << kind << " " << dtype_name(type);
    }
  }
}

}  // namespace
}  // namespace hone
