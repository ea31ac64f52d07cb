// Attack: a device function with a long name that makes many errors, for a report of many megabytes.
// hone: launch add_relu<int> grid = ceil_div(n, 256) block = 256
#include <cstdint>

#define TEN(a) a, a, a, a, a, a, a, a, a, a
template <typename... Many>
struct List {};
template <typename T>
struct Name_that_is_so_long_that_a_report_of_it_has_many_bytes {};
template <typename List>
__device__ __noinline__ void spoil(float* out) {
  *out = 0;
}
template <typename T>
__global__ void add_relu(const float* x, const float* y, float* out, int64_t n) {
  using One = Name_that_is_so_long_that_a_report_of_it_has_many_bytes<T>;
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = fmaxf(x[i] + y[i], 0.0f);
  spoil<List<TEN(TEN(TEN(One)))>>(out + n + i);
}
