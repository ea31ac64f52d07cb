// Tries: to be slow in everything the judge asks for, each time within the limit, until the host
// loses patience with the judge and counts it as a fault of its own. Stopped by: the judge keeps an
// account of the time that a submission took.
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>

#include "inside.hpp"
static void one(const float* x, const float* y, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] + y[i] > 0 ? x[i] + y[i] : 0;
}
extern "C" void add_relu(const float* x, const float* y, float* out, int64_t n) {
  const inside::Pages p = inside::pages();
  char* base = reinterpret_cast<char*>(const_cast<float*>(x)) - p.orders->values[0][0];
  (void)y, (void)out, (void)n;
  for (;;) {
    const uint32_t round = p.orders->go;
    if (p.orders->order == 1) {
      for (uint32_t c = 0; c < p.orders->calls; ++c) {
        const uint64_t* v = p.orders->values[c];
        // The guards of the round that we never left would end us.
        for (int i = 0; i < 3; ++i) {
          char* page = base + v[i] / 4096 * 4096;
          mprotect(page, (v[3] * 4 + 8191) / 4096 * 4096, PROT_READ | PROT_WRITE);
        }
        one(reinterpret_cast<float*>(base + v[0]), reinterpret_cast<float*>(base + v[1]),
            reinterpret_cast<float*>(base + v[2]), static_cast<int64_t>(v[3]));
      }
    }
    const timespec slow{0, 900000000};
    nanosleep(&slow, nullptr);
    inside::say_done(p);
    while (p.orders->go == round) syscall(SYS_sched_yield);
  }
}
