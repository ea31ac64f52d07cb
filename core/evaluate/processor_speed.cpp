#include "evaluate/processor_speed.hpp"

#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <thread>
#include <vector>

#include "base/clock.hpp"

namespace hone {
namespace {

// The fastest repeat counts: other work can only slow a measurement down. All cores share the memory, so it needs more.
constexpr int kRepeats = 5, kMemoryRepeats = 20;

double measure_clock() {
  constexpr std::uint64_t kSteps = 2'000'000;
  constexpr std::uint64_t kAdditions = 8;  // in one step
  double best = 0;
  for (int i = 0; i < kRepeats; ++i) {
    const double start = monotonic_s();
    std::uint64_t sum = static_cast<std::uint64_t>(i);
    for (std::uint64_t step = 0; step < kSteps; ++step) {
      // Each addition depends on the last and takes one cycle on all x86-64 and ARM cores of today.
      for (std::uint64_t k = 0; k < kAdditions; ++k) {
        sum += step | 1;
        asm volatile("" : "+r"(sum));
      }
    }
    best = std::max(best, static_cast<double>(kSteps * kAdditions) / (monotonic_s() - start));
  }
  return best;
}

double measure_memory() {
  constexpr std::size_t kBytes = std::size_t{64} << 20;  // more than the caches of one core
  const std::vector<std::uint64_t> data(kBytes / sizeof(std::uint64_t), 1);
  double best = 0;
  std::uint64_t total = 0;
  for (int i = 0; i < kMemoryRepeats; ++i) {
    const double start = monotonic_s();
    std::uint64_t sums[8] = {};
    for (std::size_t at = 0; at < data.size(); at += 8) {
      for (std::size_t lane = 0; lane < 8; ++lane) sums[lane] += data[at + lane];
    }
    total += std::accumulate(sums, sums + 8, std::uint64_t{0});
    asm volatile("" : "+r"(total));
    best = std::max(best, static_cast<double>(kBytes) / (monotonic_s() - start));
  }
  return best;
}

int widest_vector() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f")) return 64;
  if (__builtin_cpu_supports("avx2")) return 32;
#endif
  return 16;
}

}  // namespace

ProcessorSpeed measure_processor(int core) {
  ProcessorSpeed speed;
  speed.vector_bytes = widest_vector();
  std::thread([&speed, core] {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(static_cast<unsigned>(core), &only);
    // If the core is not allowed, any other core of this machine is as fast.
    static_cast<void>(::sched_setaffinity(0, sizeof only, &only));
    speed.clock_hz = measure_clock();
    speed.bytes_per_second = measure_memory();
  }).join();
  return speed;
}

}  // namespace hone
