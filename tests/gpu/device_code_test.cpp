// Device code on the emulator: 16-bit floats, matrix tiles, vectors, clocks and printf.
#include <cmath>

#include "gpu/emulated.hpp"

namespace hone {
namespace {

/// Runs `body` in one warp, with `float* out`, and gives what it wrote.
std::vector<float> run(const std::string& body, std::size_t count, const std::string& before = "",
                       unsigned threads = 32) {
  CUcontext context = nullptr;
  EXPECT_EQ(cuInit(0), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
  const std::string source =
      before + "\nextern \"C\" __global__ void go(float* out) {\n" + body + "\n}\n";
  const Built built = build(source.c_str(), {"go"}, {"--gpu-architecture=sm_90a"});
  EXPECT_EQ(built.result, NVRTC_SUCCESS) << built.log;
  std::vector<float> values(count);
  if (built.result != NVRTC_SUCCESS) return values;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  DeviceMemory out;
  EXPECT_EQ(cuModuleLoadData(&module, built.cubin.data()), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleGetFunction(&function, module, "go"), CUDA_SUCCESS);
  EXPECT_EQ(out.make(), CUDA_SUCCESS);
  EXPECT_EQ(launch(function, shape(1, threads), out.at), CUDA_SUCCESS);
  EXPECT_EQ(error_name(cuCtxSynchronize()), "CUDA_SUCCESS");
  EXPECT_EQ(cuMemcpyDtoH_v2(values.data(), out.at, count * sizeof(float)), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
  return values;
}

TEST(DeviceCode, Halves_RoundOnce) {
  const auto got = run(R"(
  if (threadIdx.x != 0) return;
  half a = __float2half(0.1f), b = __float2half(3.0f);
  out[0] = __half2float(a * b);
  out[1] = __half2float(__hfma(a, b, __float2half(1.0f)));
  out[2] = __half2float(__float2half(65520.0f));
  half2 pair = __floats2half2_rn(1.5f, -2.5f);
  pair = __hadd2(pair, __half2half2(__float2half(0.25f)));
  float2 wide = __half22float2(pair);
  out[3] = wide.x; out[4] = wide.y;
  out[5] = __half_as_ushort(__float2half(-2.0f));)",
                       6, "#include <cuda_fp16.h>");
  EXPECT_EQ(got[0], 0.2998046875f);  // 0.1 is 0.0999755859375 in binary16
  EXPECT_EQ(got[1], 1.2998046875f);
  EXPECT_EQ(got[2], INFINITY);
  EXPECT_EQ(got[3], 1.75f);
  EXPECT_EQ(got[4], -2.25f);
  EXPECT_EQ(got[5], 0xc000);
}

TEST(DeviceCode, Bfloats_AreUpperHalvesOfFloatsRoundedToEven) {
  const auto got = run(R"(
  if (threadIdx.x != 0) return;
  out[0] = __bfloat162float(__float2bfloat16(1.00390625f));
  out[1] = __bfloat162float(__float2bfloat16(1.01171875f));
  __nv_bfloat162 pair = __floats2bfloat162_rn(1.0f, 2.0f);
  pair = __hmul2(pair, pair);
  out[2] = __high2float(pair);
  out[3] = __bfloat16_as_ushort(__float2bfloat16(1.0f));)",
                       4, "#include <cuda_bf16.h>");
  EXPECT_EQ(got, (std::vector<float>{1.0f, 1.015625f, 4.0f, 0x3f80}));
}

TEST(DeviceCode, WmmaTiles_AreMultipliedByAWarp) {
  const auto got = run(R"(
  __shared__ half a[256];
  __shared__ half b[256];
  for (int i = threadIdx.x; i < 256; i += 32) {
    a[i] = __float2half((float)(i % 7) - 3);
    b[i] = __float2half((float)(i % 5) - 2);
  }
  __syncthreads();
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, b, 16);
  for (int twice = 0; twice < 2; ++twice) wmma::mma_sync(sum, fa, fb, sum);
  for (int i = 0; i < sum.num_elements; ++i) sum.x[i] *= 0.5f;
  wmma::store_matrix_sync(out, sum, 16, wmma::mem_row_major);)",
                       256, "#include <mma.h>\nusing namespace nvcuda;");
  for (int row = 0; row < 16; ++row) {
    for (int column = 0; column < 16; ++column) {
      int expected = 0;
      for (int k = 0; k < 16; ++k)
        expected += ((row * 16 + k) % 7 - 3) * ((column * 16 + k) % 5 - 2);
      ASSERT_EQ(got[static_cast<std::size_t>(row * 16 + column)], static_cast<float>(expected))
          << row << ", " << column;
    }
  }
}

TEST(DeviceCode, VectorsAtomicsAndMath_Exist) {
  const auto got = run(R"(
  __shared__ int sum;
  __shared__ unsigned long long most;
  if (threadIdx.x == 0) { sum = 0; most = 0; }
  __syncthreads();
  atomicAdd(&sum, 2);
  atomicMax(&most, (unsigned long long)threadIdx.x << 33);
  if (threadIdx.x < 8) atomicAdd(out + 4, 0.5f);
  __syncthreads();
  if (threadIdx.x != 0) return;
  out[0] = sum;
  out[1] = (float)(most >> 33);
  float4 v = make_float4(1, 2, 3, 4);
  *reinterpret_cast<float4*>(out + 8) = v;
  out[2] = rsqrtf(4.0f) + __expf(0.0f) + max(1, 2) + fminf(3.0f, 4.0f) + __popc(255u);
  out[3] = __int_as_float(0x3f800000) + __ldg(out + 9);
  unsigned long long before;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(before) : : "memory");
  long long cycles = clock64();
  __nanosleep(100);
  unsigned long long after;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(after));
  out[5] = after >= before && clock64() > cycles;)",
                       12, "", 64);
  EXPECT_EQ(got[0], 128.0f);
  EXPECT_EQ(got[1], 63.0f);
  EXPECT_EQ(got[2], 0.5f + 1.0f + 2.0f + 3.0f + 8.0f);
  EXPECT_EQ(got[3], 3.0f);
  EXPECT_EQ(got[4], 4.0f);
  EXPECT_EQ(got[5], 1.0f);
  EXPECT_EQ(got[11], 4.0f);
}

TEST(DeviceCode, SleepingThread_LetsOthersRun) {
  const auto got = run(R"(
  __shared__ volatile int flag;
  if (threadIdx.x == 0) { while (flag != 31) __nanosleep(20); out[0] = flag; flag = 0; }
  if (threadIdx.x == 31) flag = 31;)",
                       1);
  EXPECT_EQ(got[0], 31.0f);
}

TEST(DeviceCode, Printf_AppearsAfterSynchronisation) {
  testing::internal::CaptureStdout();
  run("if (threadIdx.x == 3) printf(\"lane %d of %u: %.2f\\n\", threadIdx.x, blockDim.x, 1.5);", 1);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "lane 3 of 32: 1.50\n");
}

}  // namespace
}  // namespace hone
