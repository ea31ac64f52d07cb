// The fixture of tests on the emulated driver: a context with kernels.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include "gpu/emulated.hpp"

namespace hone {

class Emulator : public testing::Test {
 protected:
  void SetUp() override {
    HONE_CU(cuInit(0));
    CUdevice device = -1;
    HONE_CU(cuDeviceGet(&device, 0));
    HONE_CU(cuDevicePrimaryCtxRetain(&context_, device));
    HONE_CU(cuCtxSetCurrent(context_));
  }

  /// Builds, loads and finds one kernel.
  CUfunction kernel(const char* source, const char* entry) {
    const Built built = build(source, {entry});
    EXPECT_EQ(built.result, NVRTC_SUCCESS) << built.log;
    if (built.result != NVRTC_SUCCESS) return nullptr;
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    EXPECT_EQ(error_name(cuModuleLoadData(&module, built.cubin.data())), "CUDA_SUCCESS");
    EXPECT_EQ(error_name(cuModuleGetFunction(&function, module, built.lowered[0].c_str())),
              "CUDA_SUCCESS");
    return function;
  }

  /// Runs it in a process of its own, as a fault ends a context for good; its exit status.
  template <class Work>
  int in_child(Work work) {
    const pid_t child = fork();
    if (child == 0) _exit(work());
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  template <class T>
  std::vector<T> read(const DeviceMemory& memory, std::size_t count) {
    std::vector<T> values(count);
    EXPECT_EQ(error_name(cuMemcpyDtoH_v2(values.data(), memory.at, count * sizeof(T))),
              "CUDA_SUCCESS");
    return values;
  }

  CUcontext context_ = nullptr;
};

inline constexpr const char* kScale = R"(
extern "C" __global__ void scale(const float* x, float* y, float by, long long n) {
  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * by;
})";

}  // namespace hone
