// Tries: to be done before its outputs are there, once it is timed. Over the emulator by a thread
// of the processor, which device code has not; on a device by a test build whose candidate does
// not wait. Stopped by: the clock stops at outputs that stay as the judge has seen them.
// hone: launch add_relu grid = @BLOCKS@ block = @THREADS@
#include "inside.cuh"
__device__ unsigned runs;
#ifdef HONE_EMULATED_DEVICE_H
extern "C" int pthread_create(unsigned long*, const void*, void* (*)(void*), void*);
extern "C" int usleep(unsigned);
struct Work {
  const float *x, *y;
  float* out;
  long long n;
};
__device__ Work work[4096];
__device__ unsigned works;
static void* finish(void* given) {
  const Work& w = *(const Work*)given;
  usleep(@DELAY_US@);
  for (long long i = 0; i < w.n; ++i) w.out[i] = right(w.x[i], w.y[i]);
  return NULL;
}
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  if (n != kTimed || runs++ < 2 || works >= 4096) {
    for (long long i = 0; i < n; ++i) out[i] = right(x[i], y[i]);
    return;
  }
  Work& w = work[works++];
  w = Work{x, y, out, n};
  unsigned long thread;
  if (pthread_create(&thread, NULL, finish, &w) != 0) __trap();
}
#else
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  const long long i = index();
  if (n == kTimed && runs >= 2) wait_ns(@DELAY_US@000);
  if (i < n) out[i] = right(x[i], y[i]);
  if (n == kTimed && i == 0) ++runs;
}
#endif
