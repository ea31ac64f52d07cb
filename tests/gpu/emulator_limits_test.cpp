// Limits of the emulated device: faults of device code, and launches that it refuses.
#include "gpu/emulated_test.hpp"

namespace hone {
namespace {

struct Fault {
  const char* name;
  const char* body;
  CUresult code;
};

class Faults : public Emulator, public testing::WithParamInterface<Fault> {};

TEST_P(Faults, Faults_AreNamedAndPersist) {
  const std::string source =
      std::string("extern \"C\" __global__ void bad(char* x, long long n) {") + GetParam().body +
      "}";
  CUfunction bad = kernel(source.c_str(), "bad");
  CUfunction scale = kernel(kScale, "scale");
  ASSERT_NE(bad, nullptr);
  DeviceMemory x;
  HONE_CU(x.make());
  // The child's exit status says which step went otherwise.
  EXPECT_EQ(in_child([&] {
              if (launch(bad, shape(1, 64), x.at, static_cast<long long>(kUnit)) != CUDA_SUCCESS)
                return 1;  // told by whoever comes next
              if (cuCtxSynchronize() != GetParam().code) return 2;
              if (launch(scale, shape(1, 1), x.at, x.at, 1.0f, 1LL) != GetParam().code) return 3;
              float value = 0;
              if (cuMemcpyDtoH_v2(&value, x.at, sizeof value) != GetParam().code) return 4;
              return cuCtxSynchronize() == GetParam().code ? 0 : 5;
            }),
            0);
  // Other contexts are unaffected.
  HONE_CU(launch(scale, shape(1, 1), x.at, x.at, 1.0f, 1LL));
  HONE_CU(cuCtxSynchronize());
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, Faults,
    testing::Values(
        Fault{"BeyondTheMemory", "x[n + threadIdx.x] = 1;", CUDA_ERROR_ILLEGAL_ADDRESS},
        Fault{"BeforeTheMemory", "x[-1] = 1;", CUDA_ERROR_ILLEGAL_ADDRESS},
        Fault{"Null", "*(volatile int*)0 = 1;", CUDA_ERROR_ILLEGAL_ADDRESS},
        Fault{"AfterABarrier", "__syncthreads(); if (threadIdx.x == 40) x[n] = 1;",
              CUDA_ERROR_ILLEGAL_ADDRESS},
        Fault{"Misaligned", "*(int*)(x + 2) = 1;", CUDA_ERROR_MISALIGNED_ADDRESS},
        Fault{"Trap", "__trap();", CUDA_ERROR_LAUNCH_FAILED},
        Fault{"TrapOfPtx", "asm volatile(\"trap;\");", CUDA_ERROR_LAUNCH_FAILED},
        Fault{"Assertion", "assert(n == 0);", CUDA_ERROR_ASSERT},
        Fault{"FreedTwice", "void* m = malloc(64); free(m); free(m);", CUDA_ERROR_ILLEGAL_ADDRESS},
        Fault{"BeyondSharedMemory", "extern __shared__ char s[]; s[threadIdx.x] = x[0];",
              CUDA_ERROR_ILLEGAL_ADDRESS}),
    [](const testing::TestParamInfo<Fault>& one) { return one.param.name; });

TEST_F(Emulator, LaunchBeyondTheLimits_IsRefused) {
  CUfunction scale = kernel(kScale, "scale");
  ASSERT_NE(scale, nullptr);
  DeviceMemory x;
  HONE_CU(x.make());
  const auto outcome = [&](CUlaunchConfig config) {
    return error_name(launch(scale, config, x.at, x.at, 1.0f, 0LL));
  };
  EXPECT_EQ(outcome(shape(1, 1024)), "CUDA_SUCCESS");
  EXPECT_EQ(outcome(shape(1, 1025)), "CUDA_ERROR_INVALID_VALUE");
  EXPECT_EQ(outcome(shape(0, 32)), "CUDA_ERROR_INVALID_VALUE");
  EXPECT_EQ(outcome(shape(0x80000000u, 32)), "CUDA_ERROR_INVALID_VALUE");
  CUlaunchConfig tall = shape(1, 32);
  tall.gridDimY = 65536;
  EXPECT_EQ(outcome(tall), "CUDA_ERROR_INVALID_VALUE");
  // More than 48 KiB of shared memory must be asked for, and 227 KiB is all there is.
  EXPECT_EQ(outcome(shape(1, 32, 49153)), "CUDA_ERROR_INVALID_VALUE");
  constexpr auto kShared = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
  HONE_CU(cuFuncSetAttribute(scale, kShared, 227 << 10));
  EXPECT_EQ(outcome(shape(1, 32, 227 << 10)), "CUDA_SUCCESS");
  EXPECT_EQ(error_name(cuFuncSetAttribute(scale, kShared, (227 << 10) + 1)),
            "CUDA_ERROR_INVALID_VALUE");
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim = {2, 1, 1};
  CUlaunchConfig clustered = shape(4, 32);
  clustered.attrs = &attribute;
  clustered.numAttrs = 1;
  EXPECT_EQ(outcome(clustered), "CUDA_SUCCESS");
  clustered.gridDimX = 3;
  EXPECT_EQ(outcome(clustered), "CUDA_ERROR_INVALID_VALUE");
  clustered.gridDimX = attribute.value.clusterDim.x = 16;
  EXPECT_EQ(outcome(clustered), "CUDA_ERROR_INVALID_CLUSTER_SIZE");
  attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attribute.value.cooperative = 1;
  EXPECT_EQ(outcome(clustered), "CUDA_SUCCESS");
  clustered.gridDimX = 100000;
  EXPECT_EQ(outcome(clustered), "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE");
}

}  // namespace
}  // namespace hone
