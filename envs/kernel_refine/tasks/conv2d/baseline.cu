// What is timed against for conv2d: 16 × 16 tiles of each input plane through shared memory, four output planes a thread.
// hone: launch conv2d grid = (ceil_div(w - 2, 16), ceil_div(h - 2, 16), ceil_div(c_out, 4)) block = (16, 16)
#include <cstdint>

extern "C" __global__ void conv2d(const float* x, const float* weight, const float* bias, float* out,
                                  int64_t c_in, int64_t c_out, int64_t h, int64_t w) {
  __shared__ float tile[18][18], taps[4][9];
  const int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx;
  const int64_t r0 = int64_t{blockIdx.y} * 16, c0 = int64_t{blockIdx.x} * 16;
  const int64_t o0 = int64_t{blockIdx.z} * 4;
  float sum[4] = {0, 0, 0, 0};
  for (int64_t i = 0; i < c_in; ++i) {
    for (int at = t; at < 18 * 18; at += 256) {
      const int64_t r = r0 + at / 18, c = c0 + at % 18;
      tile[at / 18][at % 18] = r < h && c < w ? x[(i * h + r) * w + c] : 0.0f;
    }
    if (t < 36) taps[t / 9][t % 9] = o0 + t / 9 < c_out ? weight[((o0 + t / 9) * c_in + i) * 9 + t % 9] : 0.0f;
    __syncthreads();
    for (int tap = 0; tap < 9; ++tap) {
      const float v = tile[ty + tap / 3][tx + tap % 3];
      for (int o = 0; o < 4; ++o) sum[o] += v * taps[o][tap];
    }
    __syncthreads();
  }
  const int64_t r = r0 + ty, c = c0 + tx;
  if (r >= h - 2 || c >= w - 2) return;
  for (int o = 0; o < 4 && o0 + o < c_out; ++o) {
    out[((o0 + o) * (h - 2) + r) * (w - 2) + c] = sum[o] + bias[o0 + o];
  }
}
