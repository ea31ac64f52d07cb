// HIP on CUDA, here on the emulated CUDA: calls, structures and device code are converted correctly.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "gpu/hip_shim/hip_calls.hpp"

namespace hone {
namespace {

#define HONE_HIP(call) ASSERT_STREQ(hipGetErrorName(call), "hipSuccess") << #call

constexpr std::size_t kUnit = 2 << 20;

class HipShim : public testing::Test {
 protected:
  void SetUp() override {
    HONE_HIP(hipInit(0));
    HONE_HIP(hipSetDevice(0));
    HONE_HIP(hipSetDeviceFlags(1));
    HONE_HIP(hipStreamCreateWithFlags(&stream_, 1));
  }
  void TearDown() override { HONE_HIP(hipStreamDestroy(stream_)); }

  struct Built {
    hiprtcResult result = 0;
    std::string log;
    std::vector<char> code;
    std::vector<std::string> lowered;
  };
  static Built build(const char* source, const std::vector<std::string>& expressions,
                     std::vector<const char*> options = {"--offload-arch=gfx942", "-std=c++17",
                                                         "-O3", "-I/usr/include"}) {
    Built built;
    hiprtcProgram program = nullptr;
    built.result = hiprtcCreateProgram(&program, source, "kernel.hip", 0, nullptr, nullptr);
    if (built.result != 0) return built;
    for (const std::string& one : expressions) hiprtcAddNameExpression(program, one.c_str());
    built.result = hiprtcCompileProgram(program, static_cast<int>(options.size()), options.data());
    std::size_t size = 0;
    hiprtcGetProgramLogSize(program, &size);
    built.log.resize(size);
    hiprtcGetProgramLog(program, built.log.data());
    if (built.result == 0) {
      hiprtcGetCodeSize(program, &size);
      built.code.resize(size);
      hiprtcGetCode(program, built.code.data());
      for (const std::string& one : expressions) {
        const char* lowered = nullptr;
        hiprtcGetLoweredName(program, one.c_str(), &lowered);
        built.lowered.emplace_back(lowered != nullptr ? lowered : "");
      }
    }
    hiprtcDestroyProgram(&program);
    return built;
  }

  static hipFunction_t kernel(const char* source, const char* entry) {
    const Built built = build(source, {entry});
    EXPECT_EQ(built.result, 0) << built.log;
    if (built.result != 0) return nullptr;
    hipModule_t module = nullptr;
    hipFunction_t function = nullptr;
    EXPECT_EQ(hipModuleLoadData(&module, built.code.data()), hipSuccess);
    EXPECT_EQ(hipModuleGetFunction(&function, module, built.lowered[0].c_str()), hipSuccess);
    return function;
  }

  struct Memory {
    hipMemGenericAllocationHandle_t handle = nullptr;
    void* at = nullptr;
  };
  static hipError_t map(Memory& memory) {
    hipError_t result = hipMemAddressReserve(&memory.at, kUnit, 0, nullptr, 0);
    if (result == hipSuccess) result = hipMemMap(memory.at, kUnit, 0, memory.handle, 0);
    const hipMemAccessDesc access{{1, 0}, 3};
    return result == hipSuccess ? hipMemSetAccess(memory.at, kUnit, &access, 1) : result;
  }
  static hipError_t make(Memory& memory) {
    hipMemAllocationProp prop{};
    prop.type = prop.requestedHandleTypes = 1;
    prop.location = {1, 0};
    const hipError_t result = hipMemCreate(&memory.handle, kUnit, &prop, 0);
    return result == hipSuccess ? map(memory) : result;
  }

  template <class... A>
  hipError_t launch(hipFunction_t function, unsigned grid, unsigned block, unsigned shared,
                    A... values) {
    void* arguments[] = {&values..., nullptr};
    return hipModuleLaunchKernel(function, grid, 1, 1, block, 1, 1, shared, stream_, arguments,
                                 nullptr);
  }

  hipStream_t stream_ = nullptr;
};

constexpr const char* kScale = R"(
#include <hip/hip_runtime.h>
extern "C" __global__ void scale(const float* x, float* y, float by, int n) {
  int i = hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x;
  if (i < n) y[i] = x[i] * by;
})";

TEST_F(HipShim, ElementwiseKernel_OutputIsReadInRows) {
  hipFunction_t scale = kernel(kScale, "scale");
  ASSERT_NE(scale, nullptr);
  Memory x, y;
  HONE_HIP(make(x));
  HONE_HIP(make(y));
  std::vector<float> values(1000, 1.5f);
  HONE_HIP(hipMemcpyHtoDAsync(x.at, values.data(), 4000, stream_));
  HONE_HIP(launch(scale, 4, 256, 0, x.at, y.at, 4.0f, 1000));
  HONE_HIP(hipStreamSynchronize(stream_));
  void* pinned = nullptr;
  HONE_HIP(hipMemAllocHost(&pinned, 64));
  hip_Memcpy2D rows{};
  rows.srcMemoryType = hipMemoryTypeDevice;
  rows.srcDevice = static_cast<char*>(y.at) + 3992;
  rows.srcPitch = rows.dstPitch = 8;
  rows.dstMemoryType = hipMemoryTypeHost;
  rows.dstHost = pinned;
  rows.WidthInBytes = 8;
  rows.Height = 2;
  HONE_HIP(hipMemcpyParam2DAsync(&rows, stream_));
  HONE_HIP(hipStreamSynchronize(stream_));
  const auto* got = static_cast<const float*>(pinned);
  EXPECT_EQ(std::vector<float>(got, got + 4), (std::vector<float>{6, 6, 0, 0}));
  HONE_HIP(hipHostFree(pinned));
}

TEST_F(HipShim, BlocksAndWarps_SynchroniseWithHipsNames) {
  hipFunction_t sum = kernel(R"(
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
template <class T> __global__ void sum(T* out) {
  HIP_DYNAMIC_SHARED(T, part)
  T v = (T)threadIdx.x;
  for (int d = 16; d > 0; d /= 2) v += __shfl_down(v, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x == 0) out[0] = part[0] + part[1] + (T)__half2float(__float2half(0.5f));
  unsigned long long low = __ballot(threadIdx.x < 40);
  if (threadIdx.x == 32) out[1] = (T)__popcll(low);
  // More than CUDA grants unasked.
  if (threadIdx.x == 0) part[15000] = 1;
})",
                             "sum<float>");
  ASSERT_NE(sum, nullptr);
  Memory out;
  HONE_HIP(make(out));
  HONE_HIP(launch(sum, 1, 64, 64 << 10, out.at));
  HONE_HIP(hipStreamSynchronize(stream_));
  float got[2] = {};
  HONE_HIP(hipMemcpyDtoH(got, out.at, sizeof got));
  EXPECT_EQ(got[0], 2016.5f);
  EXPECT_EQ(got[1], 8.0f);
}

TEST_F(HipShim, TwoProcesses_ShareMemory) {
  Memory memory;
  HONE_HIP(make(memory));
  int fd = -1;
  HONE_HIP(hipMemExportToShareableHandle(&fd, memory.handle, 1, 0));
  const pid_t child = fork();
  if (child == 0) {
    Memory same;
    // As ROCm before 7.1 has it: the address of the descriptor.
    if (hipMemImportFromShareableHandle(&same.handle, &fd, 1) != hipSuccess) _exit(1);
    if (map(same) != hipSuccess) _exit(2);
    if (hipMemsetD8Async(same.at, 7, 100, stream_) != hipSuccess) _exit(3);
    _exit(hipDeviceSynchronize() == hipSuccess ? 0 : 4);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  close(fd);
  unsigned char got[101] = {};
  HONE_HIP(hipMemcpyDtoH(got, memory.at, sizeof got));
  EXPECT_EQ(got[99], 7);
  EXPECT_EQ(got[100], 0);
}

TEST_F(HipShim, Faults_PersistAndHaveHipsNames) {
  const auto fault = [&](const char* body) -> std::string {
    const std::string source =
        std::string("extern \"C\" __global__ void bad(char* x) { ") + body + " }";
    hipFunction_t bad = kernel(source.c_str(), "bad");
    Memory x;
    int ends[2];
    if (bad == nullptr || make(x) != hipSuccess || pipe(ends) != 0) return "not begun";
    const pid_t child = fork();
    if (child == 0) {
      launch(bad, 1, 32, 0, x.at);
      const hipError_t first = hipStreamSynchronize(stream_);
      const std::string name =
          hipMemsetD8Async(x.at, 0, 1, stream_) == first ? hipGetErrorName(first) : "did not stay";
      _exit(write(ends[1], name.data(), name.size()) > 0 ? 0 : 1);
    }
    close(ends[1]);
    char name[64] = {};
    EXPECT_GT(read(ends[0], name, sizeof name - 1), 0);
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return name;
  };
  EXPECT_EQ(fault("x[(2 << 20) + threadIdx.x] = 1;"), "hipErrorIllegalAddress");
  EXPECT_EQ(fault("*(int*)(x + 1) = 1;"), "hipErrorLaunchFailure");  // HIP knows no misaligned
  EXPECT_EQ(fault("abort();"), "hipErrorLaunchFailure");
  EXPECT_EQ(fault("assert(x == 0);"), "hipErrorAssert");
}

TEST_F(HipShim, CompilerOutput_NamesFileAndLine) {
  const Built built =
      build("extern \"C\" __global__ void f(int* x) {\n  x[0] = nothing;\n}\n", {"f"});
  EXPECT_NE(built.result, 0);
  EXPECT_EQ(built.log.rfind("kernel.hip(2): error: ", 0), 0u) << built.log;
  EXPECT_EQ(build(kScale, {"scale"}, {"--offload-arch=sm_90"}).result, 5);
  EXPECT_EQ(build(kScale, {"scale"}, {"--nonsense"}).result, 5);
}

TEST_F(HipShim, DeviceLimits_HaveHipsNumbers) {
  const auto attribute = [](int which) {
    int value = -1;
    EXPECT_EQ(hipDeviceGetAttribute(&value, which, 0), hipSuccess) << which;
    return value;
  };
  EXPECT_EQ(attribute(56), 1024);  // threads of a block
  EXPECT_EQ(attribute(29), 0x7fffffff);
  EXPECT_EQ(attribute(74), 227 << 10);
  EXPECT_EQ(attribute(87), 32);
  EXPECT_EQ(attribute(89), 1);  // memory that processes share
  int value = 0;
  EXPECT_EQ(hipDeviceGetAttribute(&value, 12345, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipSetDevice(1), hipErrorInvalidDevice);
  std::size_t bytes = 0;
  HONE_HIP(hipDeviceTotalMem(&bytes, 0));
  EXPECT_EQ(bytes, std::size_t{8} << 30);
}

TEST_F(HipShim, LaunchBeyondTheLimits_IsRefused) {
  hipFunction_t scale = kernel(kScale, "scale");
  ASSERT_NE(scale, nullptr);
  Memory x;
  HONE_HIP(make(x));
  EXPECT_EQ(launch(scale, 1, 1025, 0, x.at, x.at, 1.0f, 1), hipErrorInvalidValue);
  EXPECT_EQ(launch(scale, 1, 32, 228 << 10, x.at, x.at, 1.0f, 1), hipErrorInvalidValue);
  float by = 1;
  int n = 1;
  void* arguments[] = {&x.at, &x.at, &by, &n};
  EXPECT_EQ(hipModuleLaunchCooperativeKernel(scale, 8, 1, 1, 1024, 1, 1, 0, stream_, arguments),
            hipSuccess);
  EXPECT_EQ(hipModuleLaunchCooperativeKernel(scale, 9, 1, 1, 1024, 1, 1, 0, stream_, arguments),
            hipErrorCooperativeLaunchTooLarge);
}

}  // namespace
}  // namespace hone
