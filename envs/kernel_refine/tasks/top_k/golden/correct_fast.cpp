// expect: correct speedup>1
// Sixteen elements at a time are compared with the k-th best so far, which almost none of them beats.
#include <cstdint>

typedef float f16 __attribute__((vector_size(64), aligned(4)));
typedef int32_t i16 __attribute__((vector_size(64)));

/// Puts (value, column) in its place among the best `have` of at most k; returns how many there are then.
static int64_t insert(float* values, int32_t* indices, int64_t have, int64_t k, float value,
                      int32_t column) {
  int64_t at = have < k ? have : k - 1;
  while (at > 0 && values[at - 1] < value) {
    values[at] = values[at - 1];
    indices[at] = indices[at - 1];
    --at;
  }
  values[at] = value;
  indices[at] = column;
  return have < k ? have + 1 : k;
}

static bool any_above(const float* in, float bound) {
  const i16 above = *reinterpret_cast<const f16*>(in) > f16{} + bound;
  int32_t any = 0;
  for (int i = 0; i < 16; ++i) any |= above[i];
  return any != 0;
}

extern "C" void top_k(const float* x, float* values, int32_t* indices, int64_t rows, int64_t cols,
                      int64_t k) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    float* best = values + r * k;
    int32_t* where = indices + r * k;
    int64_t have = 0, c = 0;
    while (c < cols) {
      if (have == k && c + 16 <= cols && !any_above(in + c, best[k - 1])) {
        c += 16;
        continue;
      }
      const int64_t end = c + 16 < cols ? c + 16 : cols;
      for (; c < end; ++c) {
        if (have < k || in[c] > best[k - 1]) {
          have = insert(best, where, have, k, in[c], static_cast<int32_t>(c));
        }
      }
    }
  }
}
