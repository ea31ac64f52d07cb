// The emulated driver and compiler: the behaviour that kernels and the host rely on.
#include <unistd.h>

#include <numeric>

#include "gpu/emulated_test.hpp"

namespace hone {
namespace {

TEST_F(Emulator, ElementwiseKernel_WritesOnlyItsElements) {
  CUfunction scale = kernel(kScale, "scale");
  ASSERT_NE(scale, nullptr);
  DeviceMemory x, y;
  HONE_CU(x.make());
  HONE_CU(y.make());
  constexpr long long kCount = 1000;
  std::vector<float> values(kCount);
  std::iota(values.begin(), values.end(), 1.0f);
  HONE_CU(cuMemcpyHtoD_v2(x.at, values.data(), kCount * sizeof(float)));
  HONE_CU(launch(scale, shape(4, 256), x.at, y.at, 2.5f, kCount));
  HONE_CU(cuCtxSynchronize());
  const auto got = read<float>(y, kCount + 1);
  for (std::size_t i = 0; i < kCount; ++i) ASSERT_EQ(got[i], values[i] * 2.5f) << i;
  EXPECT_EQ(got[kCount], 0.0f);  // memory begins zeroed, and the kernel's limit held
}

TEST_F(Emulator, ThreadsOfABlock_SynchroniseAtBarriers) {
  CUfunction sum = kernel(R"(
extern "C" __global__ void sum(const int* x, int* out, int* steps) {
  __shared__ int part[256];
  extern __shared__ int more[];
  part[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
  more[255 - threadIdx.x] = threadIdx.x;
  for (int half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
  }
  int even = __syncthreads_count(threadIdx.x % 2 == 0);
  if (threadIdx.x == 0) { out[blockIdx.x] = part[0]; steps[blockIdx.x] = even * 1000 + more[0]; }
})",
                          "sum");
  ASSERT_NE(sum, nullptr);
  DeviceMemory x, out, steps;
  HONE_CU(x.make());
  HONE_CU(out.make());
  HONE_CU(steps.make());
  std::vector<int> values(512);
  std::iota(values.begin(), values.end(), 0);
  HONE_CU(cuMemcpyHtoD_v2(x.at, values.data(), values.size() * sizeof(int)));
  HONE_CU(launch(sum, shape(2, 256, 1024), x.at, out.at, steps.at));
  HONE_CU(cuCtxSynchronize());
  EXPECT_EQ(read<int>(out, 2), (std::vector<int>{255 * 128, 255 * 128 + 256 * 256}));
  EXPECT_EQ(read<int>(steps, 2), (std::vector<int>{128255, 128255}));
}

TEST_F(Emulator, ThreadsThatReturnEarly_DoNotBlockABarrier) {
  CUfunction some = kernel(R"(
extern "C" __global__ void some(int* out) {
  __shared__ int seen[64];
  if (threadIdx.x >= 40) return;
  seen[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = seen[39 - threadIdx.x];
})",
                           "some");
  ASSERT_NE(some, nullptr);
  DeviceMemory out;
  HONE_CU(out.make());
  HONE_CU(launch(some, shape(1, 64), out.at));
  HONE_CU(cuCtxSynchronize());
  const auto got = read<int>(out, 41);
  for (int i = 0; i < 40; ++i) EXPECT_EQ(got[static_cast<std::size_t>(i)], 39 - i);
  EXPECT_EQ(got[40], 0);
}

TEST_F(Emulator, WarpShufflesAndVotes_ExchangeValuesBetweenLanes) {
  CUfunction warp = kernel(R"(
extern "C" __global__ void warp(float* sums, unsigned* votes, double* from, int* up, int* group) {
  unsigned lane = threadIdx.x % 32;
  float v = threadIdx.x;
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
  if (lane == 0) sums[threadIdx.x / 32] = v;
  votes[threadIdx.x] = __ballot_sync(0xffffffffu, lane % 3 == 0);
  from[threadIdx.x] = __shfl_sync(0xffffffffu, threadIdx.x * 0.5, 7);
  up[threadIdx.x] = __shfl_up_sync(0xffffffffu, (int)threadIdx.x, 2, 8);
  // Half a warp alone, with another number of meetings than the other half.
  int sum = lane;
  if (lane < 16) {
    for (int d = 8; d > 0; d /= 2) sum += __shfl_xor_sync(0x0000ffffu, sum, d);
  } else {
    sum += __shfl_xor_sync(0xffff0000u, sum, 1);
  }
  __syncwarp();
  group[threadIdx.x] = __shfl_sync(0xffffffffu, sum, lane ^ 16);
})",
                           "warp");
  ASSERT_NE(warp, nullptr);
  DeviceMemory sums, votes, from, up, group;
  for (DeviceMemory* one : {&sums, &votes, &from, &up, &group}) HONE_CU(one->make());
  HONE_CU(launch(warp, shape(1, 64), sums.at, votes.at, from.at, up.at, group.at));
  HONE_CU(cuCtxSynchronize());
  EXPECT_EQ(read<float>(sums, 2), (std::vector<float>{496.0f, 496.0f + 32 * 32}));
  EXPECT_EQ(read<unsigned>(votes, 64), std::vector<unsigned>(64, 0x49249249u));
  const auto sources = read<double>(from, 64);
  EXPECT_EQ(sources[0], 3.5);
  EXPECT_EQ(sources[63], 19.5);
  const auto lifted = read<int>(up, 64);
  EXPECT_EQ(lifted[9], 9);  // its source would lie in the group before
  EXPECT_EQ(lifted[10], 8);
  const auto halves = read<int>(group, 64);
  EXPECT_EQ(halves[16], 120);  // 0 + ... + 15
  EXPECT_EQ(halves[0], 16 + 17);
}

TEST_F(Emulator, NameExpression_FindsTheTemplateInstance) {
  const Built built = build(R"(
namespace deep { template <class T, int k> __global__ void fill(T* out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = (T)k;
} }
__global__ void plain(int* out) { out[0] = 9; })",
                            {"deep::fill<double, 4>", "deep::fill<int, 5>", "plain"});
  ASSERT_EQ(built.result, NVRTC_SUCCESS) << built.log;
  CUmodule module = nullptr;
  HONE_CU(cuModuleLoadData(&module, built.cubin.data()));
  DeviceMemory out;
  HONE_CU(out.make());
  CUfunction function = nullptr;
  HONE_CU(cuModuleGetFunction(&function, module, built.lowered[0].c_str()));
  HONE_CU(launch(function, shape(1, 32), out.at, 10));
  EXPECT_EQ(read<double>(out, 11)[9], 4.0);
  HONE_CU(cuModuleGetFunction(&function, module, built.lowered[1].c_str()));
  HONE_CU(launch(function, shape(1, 32), out.at, 10));
  EXPECT_EQ(read<int>(out, 11)[9], 5);
  // As with the real compiler, a C++ name is not what the module knows it by.
  EXPECT_EQ(error_name(cuModuleGetFunction(&function, module, "plain")), "CUDA_ERROR_NOT_FOUND");
  HONE_CU(cuModuleUnload(module));
}

TEST_F(Emulator, Kernels_RunInTheOrderOfTheirLaunch) {
  const Built built = build(R"(
extern "C" __global__ void write(int* x) { x[threadIdx.x] = threadIdx.x; }
extern "C" __global__ void twice(int* x) { x[threadIdx.x] *= 2; }
__device__ int counter;
extern "C" __global__ void count(int* x) { x[0] = atomicAdd(&counter, 1); })",
                            {"write", "twice", "count"});
  ASSERT_EQ(built.result, NVRTC_SUCCESS) << built.log;
  CUmodule module = nullptr;
  HONE_CU(cuModuleLoadData(&module, built.cubin.data()));
  CUfunction write = nullptr, twice = nullptr, count = nullptr;
  HONE_CU(cuModuleGetFunction(&write, module, "write"));
  HONE_CU(cuModuleGetFunction(&twice, module, "twice"));
  HONE_CU(cuModuleGetFunction(&count, module, "count"));
  DeviceMemory x;
  HONE_CU(x.make());
  CUstream stream = nullptr;
  HONE_CU(cuStreamCreate(&stream, 1));
  CUlaunchConfig config = shape(1, 100);
  config.hStream = stream;
  HONE_CU(launch(write, config, x.at));
  HONE_CU(launch(twice, config, x.at));
  HONE_CU(cuStreamSynchronize(stream));
  EXPECT_EQ(read<int>(x, 100)[99], 198);
  // A module's variables last from launch to launch, and begin anew in a module loaded anew.
  HONE_CU(launch(count, shape(10, 10), x.at));
  EXPECT_EQ(read<int>(x, 1)[0], 99);
  HONE_CU(cuModuleUnload(module));
  HONE_CU(cuModuleLoadData(&module, built.cubin.data()));
  HONE_CU(cuModuleGetFunction(&count, module, "count"));
  HONE_CU(launch(count, shape(1, 1), x.at));
  EXPECT_EQ(read<int>(x, 1)[0], 0);
  HONE_CU(cuStreamDestroy_v2(stream));
}

TEST_F(Emulator, TwoProcesses_ShareMemory) {
  CUfunction scale = kernel(kScale, "scale");
  ASSERT_NE(scale, nullptr);
  DeviceMemory memory;
  HONE_CU(memory.make(2 * kUnit));
  int fd = -1;
  HONE_CU(cuMemExportToShareableHandle(&fd, memory.handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                       0));
  std::vector<float> values(256, 3.0f);
  HONE_CU(cuMemcpyHtoD_v2(memory.at, values.data(), values.size() * sizeof(float)));
  EXPECT_EQ(in_child([&] {
              CUmemGenericAllocationHandle handle = 0;
              if (cuMemImportFromShareableHandle(
                      &handle, reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)),
                      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != CUDA_SUCCESS) {
                return 1;
              }
              DeviceMemory same;
              if (same.map(handle, 2 * kUnit) != CUDA_SUCCESS) return 2;
              if (same.at == memory.at) return 3;
              launch(scale, shape(1, 256), same.at, same.at + kUnit, 7.0f, 256LL);
              return cuCtxSynchronize() == CUDA_SUCCESS ? 0 : 4;
            }),
            0);
  close(fd);
  std::vector<float> got(256);
  HONE_CU(cuMemcpyDtoH_v2(got.data(), memory.at + kUnit, got.size() * sizeof(float)));
  EXPECT_EQ(got, std::vector<float>(256, 21.0f));
}

TEST_F(Emulator, CompilerOutput_NamesFileAndLine) {
  const Built built = build("extern \"C\" __global__ void f(int* x) {\n  x[0] = nothing;\n}\n",
                            {"f"}, {"--gpu-architecture=sm_90"}, "submission.cu");
  EXPECT_EQ(built.result, NVRTC_ERROR_COMPILATION);
  EXPECT_EQ(built.log.rfind("submission.cu(2): error: 'nothing' was not declared", 0), 0u)
      << built.log;
  EXPECT_NE(built.log.find("1 error detected in the compilation of \"submission.cu\"."),
            std::string::npos);
}

TEST_F(Emulator, UnsupportedCode_DoesNotBuild) {
  EXPECT_EQ(build("#include <vector>\n").result, NVRTC_ERROR_COMPILATION);
  EXPECT_EQ(build("extern \"C\" __global__ void f() { throw 1; }").result, NVRTC_ERROR_COMPILATION);
  const Built unresolved =
      build("int other(); extern \"C\" __global__ void f(int* x) { *x = other(); }");
  EXPECT_EQ(unresolved.result, NVRTC_ERROR_COMPILATION);
  EXPECT_NE(unresolved.log.find("other"), std::string::npos) << unresolved.log;
  EXPECT_EQ(build(kScale, {"scale<int>"}).result, NVRTC_ERROR_COMPILATION);
  EXPECT_EQ(build(kScale, {}, {"--gpu-architecture=sm_12"}).result, NVRTC_ERROR_INVALID_OPTION);
  EXPECT_EQ(build(kScale, {}, {"--nonsense"}).result, NVRTC_ERROR_INVALID_OPTION);
}

TEST_F(Emulator, KernelArguments_AreReported) {
  CUfunction function =
      kernel("extern \"C\" __global__ void f(char a, double* b, float4 c, int d) {}", "f");
  ASSERT_NE(function, nullptr);
  std::vector<std::size_t> places;
  std::size_t offset = 0, size = 0;
  for (std::size_t i = 0; cuFuncGetParamInfo(function, i, &offset, &size) == CUDA_SUCCESS; ++i) {
    places.push_back(offset);
    places.push_back(size);
  }
  EXPECT_EQ(places, (std::vector<std::size_t>{0, 1, 8, 8, 16, 16, 32, 4}));
}

TEST_F(Emulator, DeviceCode_HasItsOwnHeap) {
  CUfunction function = kernel(R"(
extern "C" __global__ void fill(unsigned long long* got, int bytes) {
  unsigned long long count = 0;
  while (malloc(bytes) != 0) ++count;
  *got = count;
})",
                               "fill");
  ASSERT_NE(function, nullptr);
  DeviceMemory got;
  HONE_CU(got.make());
  // Its size is fixed once it has been used, and what a kernel leaves stays taken: each in a process of its own.
  EXPECT_EQ(in_child([&] {
              if (cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 1 << 20) != CUDA_SUCCESS) return 1;
              unsigned long long count = 0;
              launch(function, shape(1, 1), got.at, 1000);
              cuMemcpyDtoH_v2(&count, got.at, sizeof count);
              if (count < 1000 || count > 1048) return 2;
              launch(function, shape(1, 1), got.at, 1000);
              cuMemcpyDtoH_v2(&count, got.at, sizeof count);
              if (count != 0) return 3;
              return cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 1 << 20) == CUDA_ERROR_INVALID_VALUE
                         ? 0
                         : 4;
            }),
            0);
}

}  // namespace
}  // namespace hone
