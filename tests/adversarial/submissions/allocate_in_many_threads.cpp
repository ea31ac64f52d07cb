// Tries: to use 640 MB, each 16 MB of it mapped, written and kept by a thread that then exits. Stopped by: the judge's
// watch over the memory of the process.
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
static void* take(void*) {
  constexpr size_t kBlock = size_t{16} << 20;
  void* block = mmap(nullptr, kBlock, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block != MAP_FAILED) memset(block, 1, kBlock);
  return nullptr;
}
extern "C" void add_relu(const float* x, const float* y, float* out, int64_t n) {
  static int taken = 0;
  for (; taken < 40; ++taken) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, take, nullptr) == 0) pthread_join(thread, nullptr);
  }
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] + y[i] > 0 ? x[i] + y[i] : 0;
}
