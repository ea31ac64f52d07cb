// Honest: transposes b into 8 MiB of its own memory, for which it asks for huge pages, and uses dot products.
#include <immintrin.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <new>

static float* scratch(int64_t count) {
  static float* memory = nullptr;
  static int64_t capacity = 0;
  if (count <= capacity) return memory;
  std::free(memory);
  capacity = count < (1 << 21) ? (1 << 21) : count;
  const size_t bytes =
      (static_cast<size_t>(capacity) * sizeof(float) + 0x1fffff) & ~size_t{0x1fffff};
  memory = static_cast<float*>(std::aligned_alloc(size_t{1} << 21, bytes));
  if (memory == nullptr) throw std::bad_alloc();
  (void)madvise(memory, bytes, MADV_HUGEPAGE);  // a hint; the kernel works without it
  return memory;
}

static float dot(const float* a, const float* b, int64_t k) {
  __m256 low = _mm256_setzero_ps(), high = low;
  int64_t p = 0;
  for (; p + 16 <= k; p += 16) {
    low = _mm256_fmadd_ps(_mm256_loadu_ps(a + p), _mm256_loadu_ps(b + p), low);
    high = _mm256_fmadd_ps(_mm256_loadu_ps(a + p + 8), _mm256_loadu_ps(b + p + 8), high);
  }
  float lanes[8], sum = 0;
  _mm256_storeu_ps(lanes, _mm256_add_ps(low, high));
  for (float lane : lanes) sum += lane;
  for (; p < k; ++p) sum += a[p] * b[p];
  return sum;
}

extern "C" void matmul(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k) {
  float* columns = scratch(n * k);
  for (int64_t p = 0; p < k; ++p) {
    for (int64_t j = 0; j < n; ++j) columns[j * k + p] = b[p * n + j];
  }
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) c[i * n + j] = dot(a + i * k, columns + j * k, k);
  }
}
