// Tries: to look starved, with threads that become ready together, delay each other, and sleep most of the time. Stopped
// by: run delay is excluded only up to the time that other processes had of its cores.
#include <pthread.h>
#include <stdint.h>
#include <time.h>
static int64_t clock_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{1000000000} * now.tv_sec + now.tv_nsec;
}
static void* contend(void*) {
  constexpr int64_t kEvery = 50000000, kBusy = 100000;
  for (;;) {
    const int64_t next = (clock_ns() / kEvery + 1) * kEvery;
    const timespec at{next / 1000000000, next % 1000000000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
    while (clock_ns() < next + kBusy) {
    }
  }
  return nullptr;
}
extern "C" void add_relu(const float*, const float*, float*, int64_t) {
  for (int i = 0; i < 24; ++i) {
    pthread_t thread;
    pthread_create(&thread, nullptr, contend, nullptr);
  }
  contend(nullptr);
}
