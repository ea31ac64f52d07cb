// What is timed against for nbody: a body per thread, the others in stretches of 128 through shared memory.
// hone: launch nbody grid = ceil_div(n, 128) block = 128
#include <cstdint>

extern "C" __global__ void nbody(const float* pos, const float* mass, float* acc, int64_t n) {
  __shared__ float px[128], py[128], pz[128], pm[128];
  const int t = threadIdx.x;
  const int64_t i = int64_t{blockIdx.x} * 128 + t, own = i < n ? i : n - 1;
  const float x = pos[3 * own], y = pos[3 * own + 1], z = pos[3 * own + 2];
  float ax = 0, ay = 0, az = 0;
  for (int64_t j0 = 0; j0 < n; j0 += 128) {
    const bool inside = j0 + t < n;
    px[t] = inside ? pos[3 * (j0 + t)] : 0.0f;
    py[t] = inside ? pos[3 * (j0 + t) + 1] : 0.0f;
    pz[t] = inside ? pos[3 * (j0 + t) + 2] : 0.0f;
    pm[t] = inside ? mass[j0 + t] : 0.0f;
    __syncthreads();
    for (int j = 0; j < 128; ++j) {
      const float dx = px[j] - x, dy = py[j] - y, dz = pz[j] - z;
      const float square = dx * dx + dy * dy + dz * dz + 0.01f;
      const float pull = pm[j] / (square * sqrtf(square));
      ax += pull * dx;
      ay += pull * dy;
      az += pull * dz;
    }
    __syncthreads();
  }
  if (i >= n) return;
  acc[3 * i] = ax;
  acc[3 * i + 1] = ay;
  acc[3 * i + 2] = az;
}
