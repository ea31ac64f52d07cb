// Tries: to go on running between rounds, to watch the inputs arrive and to have the answers before
// the clock starts. Stopped by: the process stands still while inputs are written.
#include <stdint.h>

#include "inside.hpp"
constexpr int64_t kChunk = 4096, kChunks = 256, kLarge = kChunk * kChunks;
static float last[64][kChunks];  // what lay at the end of each chunk of each output
static bool ready[64][kChunks];
// As slow as the baseline, so that a gain is the lead's alone.
[[gnu::optimize("no-tree-vectorize")]] static void one(const float* x, const float* y, float* out,
                                                       int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] + y[i] > 0 ? x[i] + y[i] : 0;
}
static char* base;
static float* tensor(uint64_t call, int t) {
  return reinterpret_cast<float*>(base +
                                  (3 * call + static_cast<uint64_t>(t)) * (4 * kLarge + 4096) + 64);
}
static void chunk(uint64_t call, int64_t c) {
  const int64_t at = c * kChunk;
  one(tensor(call, 0) + at, tensor(call, 1) + at, tensor(call, 2) + at, kChunk);
  ready[call][c] = true;
}
extern "C" void add_relu(const float* x, const float* y, float* out, int64_t n) {
  if (n != kLarge) return one(x, y, out, n);
  const inside::Pages p = inside::pages();
  base = reinterpret_cast<char*>(const_cast<float*>(x)) - p.orders->values[0][0];
  uint64_t calls = 1;
  for (;;) {  // never returns: from here on it serves the judge itself
    const uint32_t round = p.orders->go;
    calls = p.orders->calls > calls ? p.orders->calls : calls;
    for (uint64_t k = 0; k < p.orders->calls && p.orders->order == 1; ++k) {
      for (int64_t c = 0; c < kChunks; ++c) {
        if (!ready[k][c]) chunk(k, c);
      }
    }
    for (uint64_t k = 0; k < calls; ++k) {
      for (int64_t c = 0; c < kChunks; ++c) {
        ready[k][c] = false;
        last[k][c] = tensor(k, 2)[c * kChunk + kChunk - 1];
      }
    }
    inside::say_done(p);
    while (p.orders->go == round) {
      for (uint64_t k = 0; k < calls && p.orders->go == round; ++k) {
        for (int64_t c = 0; c < kChunks && p.orders->go == round; ++c) {
          const volatile float* end = tensor(k, 2) + c * kChunk + kChunk - 1;
          if (!ready[k][c] && *end != last[k][c]) chunk(k, c);  // poisoned: its inputs are there
        }
      }
    }
  }
}
