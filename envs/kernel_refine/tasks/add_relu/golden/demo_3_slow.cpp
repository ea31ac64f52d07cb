// expect: correct speedup<1
// Right, but the sum goes through a temporary that is allocated in every call.
#include <cstdint>
#include <cstdlib>

extern "C" void add_relu(const float* x, const float* y, float* out, int64_t n) {
  float* sum = static_cast<float*>(std::malloc(static_cast<size_t>(n) * sizeof(float)));
  if (sum == nullptr) std::abort();
  for (int64_t i = 0; i < n; ++i) sum[i] = x[i] + y[i];
  for (int64_t i = 0; i < n; ++i) out[i] = sum[i] > 0 ? sum[i] : 0;
  std::free(sum);
}
