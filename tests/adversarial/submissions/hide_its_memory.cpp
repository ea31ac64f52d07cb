// Tries: to use 640 MB unseen: its first thread exits, so that the kernel reports no memory for the process, and a second
// thread serves. Stopped by: the judge then asks the threads.
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "inside.hpp"
static void one(const float* x, const float* y, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] + y[i] > 0 ? x[i] + y[i] : 0;
}
static char* base;
static void* serve(void*) {
  constexpr size_t kBytes = size_t{640} << 20;
  void* block = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block != MAP_FAILED) memset(block, 1, kBytes);
  const inside::Pages p = inside::pages();
  for (;;) {
    const uint32_t round = p.orders->go;
    for (uint32_t c = 0; c < p.orders->calls && p.orders->order == 1; ++c) {
      const uint64_t* v = p.orders->values[c];
      one(reinterpret_cast<float*>(base + v[0]), reinterpret_cast<float*>(base + v[1]),
          reinterpret_cast<float*>(base + v[2]), static_cast<int64_t>(v[3]));
    }
    inside::say_done(p);
    while (p.orders->go == round) syscall(SYS_sched_yield);
  }
}
extern "C" void add_relu(const float* x, const float* y, float* out, int64_t n) {
  if (n != 1048576)
    return one(x, y, out, n);  // guard pages are for the candidate's own loop to set
  const inside::Pages p = inside::pages();
  base = reinterpret_cast<char*>(const_cast<float*>(x)) - p.orders->values[0][0];
  pthread_t thread;
  if (pthread_create(&thread, nullptr, serve, nullptr) == 0) syscall(SYS_exit, 0);
  inside::report(false);
}
