// The emulated driver in a sealed process like a candidate: modules load, kernels run, faults are caught.
#include <cstdio>
#include <cstdlib>

#include "gpu/emulated_test.hpp"
#include "sandbox/seal.hpp"

namespace hone {
namespace {

/// With the seal of code of ours that drives a device, and with the stricter one of foreign code.
class Sealed : public Emulator, public testing::WithParamInterface<bool> {
 protected:
  /// Runs `work` in a sealed child: its exit status, 99 where it could not be sealed.
  template <class Work>
  int in_sealed_child(Work work) {
    SealOptions options;
    options.device = GetParam();
    return in_child([&] { return seal_candidate(options) ? work() : 99; });
  }
};
INSTANTIATE_TEST_SUITE_P(Kinds, Sealed, testing::Bool(),
                         [](const auto& one) { return one.param ? "Device" : "Foreign"; });

TEST_P(Sealed, HundredModulesInSequence_LoadAndRun) {
  const Built built = build(kScale, {"scale"});
  ASSERT_EQ(built.result, NVRTC_SUCCESS) << built.log;
  DeviceMemory memory;
  HONE_CU(memory.make());
  const float one = 1;
  HONE_CU(cuMemcpyHtoD_v2(memory.at, &one, sizeof one));
  EXPECT_EQ(in_sealed_child([&] {
              for (int i = 0; i < 100; ++i) {  // more than files were kept for
                CUmodule module = nullptr;
                CUfunction scale = nullptr;
                if (cuModuleLoadData(&module, built.cubin.data()) != CUDA_SUCCESS) return 1;
                if (cuModuleGetFunction(&scale, module, "scale") != CUDA_SUCCESS) return 2;
                launch(scale, shape(1, 32), memory.at, memory.at, i < 10 ? 2.0f : 1.0f, 1LL);
                if (cuCtxSynchronize() != CUDA_SUCCESS) return 3;
                if (cuModuleUnload(module) != CUDA_SUCCESS) return 4;
              }
              return 0;
            }),
            0);
  EXPECT_EQ(read<float>(memory, 1)[0], 1024.0f);
}

TEST_F(Emulator, Build_WritesOnlyToItsFolder) {
  char folder[] = "/tmp/hone-emulator-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  EXPECT_EQ(in_child([&] {
              if (chdir(folder) != 0) return 1;
              if (!seal_builder({"/usr", "/lib", "/lib64", "/bin", "/etc"}, folder)) return 2;
              const Built built = build(kScale, {"scale"});
              if (built.result == NVRTC_SUCCESS) return built.cubin.empty() ? 3 : 0;
              std::fprintf(stderr, "%s\n", built.log.c_str());
              return 4;
            }),
            0);
  EXPECT_EQ(rmdir(folder), 0);  // it leaves nothing behind
}

TEST_P(Sealed, IllegalAddress_IsReported) {
  const Built built = build(R"(
extern "C" __global__ void bad(int* x) { __syncthreads(); x[1 << 20] = threadIdx.x; })",
                            {"bad"});
  ASSERT_EQ(built.result, NVRTC_SUCCESS) << built.log;
  DeviceMemory memory;
  HONE_CU(memory.make());
  EXPECT_EQ(in_sealed_child([&] {
              CUmodule module = nullptr;
              CUfunction bad = nullptr;
              if (cuModuleLoadData(&module, built.cubin.data()) != CUDA_SUCCESS) return 1;
              if (cuModuleGetFunction(&bad, module, "bad") != CUDA_SUCCESS) return 2;
              launch(bad, shape(1, 64), memory.at);
              return cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS ? 0 : 3;
            }),
            0);
}

}  // namespace
}  // namespace hone
