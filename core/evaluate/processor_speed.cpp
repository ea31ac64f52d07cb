#include "evaluate/processor_speed.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <thread>
#include <utility>

#include "base/clock.hpp"

namespace hone {
namespace {

// The fastest repeat counts: other work can only slow a measurement down. A repeat of clock or arithmetic takes less than a
// millisecond, so some repeats run without being preempted.
constexpr int kRepeats = 50;
constexpr int kMemoryRepeatsMax = 20, kMemoryRepeatsMin = 5;
constexpr std::size_t kMemoryBytesMin = std::size_t{64} << 20,
                      kMemoryBytesMax = std::size_t{256} << 20;

// Loops are unrolled by index sequences, because compilers unroll differently at each optimisation level.

/// Each addition depends on the last and takes one cycle on all x86-64 and ARM cores of today.
template <std::size_t... Addition>
[[gnu::always_inline]] inline void add_in_order(std::uint64_t& sum, std::uint64_t what,
                                                std::index_sequence<Addition...>) {
  const auto add = [&](std::size_t) {
    sum += what;
    asm volatile("" : "+r"(sum));
  };
  (add(Addition), ...);
}

double measure_clock() {
  constexpr std::uint64_t kSteps = 50'000;
  constexpr std::size_t kAdditions = 16;  // in one step
  double best = 0;
  for (int i = 0; i < kRepeats; ++i) {
    std::uint64_t sum = static_cast<std::uint64_t>(i);
    const double start = monotonic_s();
    for (std::uint64_t step = 0; step < kSteps; ++step)
      add_in_order(sum, step | 1, std::make_index_sequence<kAdditions>());
    const double seconds = monotonic_s() - start;
    best = std::max(best, static_cast<double>(kSteps * kAdditions) / seconds);
  }
  return best;
}

int widest_vector() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f")) return 64;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return 32;
#endif
  return 16;
}

/// An array that does not fit in the caches, aligned for all vectors.
class MemoryArray {
 public:
  MemoryArray()
      : bytes_(bytes_beyond_caches()),
        data_(static_cast<float*>(std::aligned_alloc(64, bytes_)), &std::free) {
    if (data_ != nullptr) std::fill_n(data_.get(), bytes_ / sizeof(float), 1.0F);
  }
  std::size_t bytes() const { return data_ != nullptr ? bytes_ : 0; }
  template <class Vector>
  const Vector* vectors() const {
    return reinterpret_cast<const Vector*>(data_.get());
  }

 private:
  static std::size_t bytes_beyond_caches() {
    long cache = 0;
#ifdef _SC_LEVEL3_CACHE_SIZE
    cache = ::sysconf(_SC_LEVEL3_CACHE_SIZE);  // 0 or -1: unknown
#endif
    const std::size_t twice = 2 * static_cast<std::size_t>(std::max(cache, 0L));
    return std::clamp(twice, kMemoryBytesMin, kMemoryBytesMax) / 4096 * 4096;
  }

  const std::size_t bytes_;
  std::unique_ptr<float, decltype(&std::free)> data_;
};

template <class Vector>
constexpr std::size_t kElements = sizeof(Vector) / sizeof(Vector{}[0]);

/// Seconds for `steps` steps of independent chains of `vector = vector * factor + summand`.
template <class Vector, std::size_t... Chain>
[[gnu::always_inline]] inline double seconds_of_chains(std::int64_t steps,
                                                       std::index_sequence<Chain...>) {
  Vector chains[] = {(Vector{} + static_cast<float>(Chain))...};
  volatile float opaque = 0.5F;  // so that the compiler cannot compute the chains in advance
  const Vector factor = Vector{} + opaque, summand = Vector{} + opaque;
  const double start = monotonic_s();
  for (std::int64_t step = 0; step < steps; ++step)
    ((chains[Chain] = chains[Chain] * factor + summand), ...);
  const double seconds = monotonic_s() - start;
  opaque = static_cast<float>((chains[Chain][0] + ...));
  return seconds;
}

#if defined(__x86_64__)
constexpr std::size_t kChains =
    12;  // two units with a latency of at most 5 cycles need 10; AVX2 has 16 registers
#else
constexpr std::size_t kChains = 20;  // four units with a latency of 4 need 16; ARM has 32 registers
#endif

/// Floating-point operations per second.
template <class Vector>
[[gnu::always_inline]] inline double measure_flops() {
  constexpr std::int64_t kSteps = 50'000;
  constexpr auto kCount = static_cast<double>(2 * kElements<Vector> * kChains * kSteps);
  double best = 0;
  for (int i = 0; i < kRepeats; ++i) {
    best = std::max(
        best, kCount / seconds_of_chains<Vector>(kSteps, std::make_index_sequence<kChains>()));
  }
  return best;
}

template <class Vector, std::size_t... Chain>
[[gnu::always_inline]] inline double seconds_of_sums(const MemoryArray& memory,
                                                     std::index_sequence<Chain...>) {
  const Vector* data = memory.vectors<Vector>();
  Vector sums[sizeof...(Chain)] = {};
  const double start = monotonic_s();
  for (std::size_t at = 0; at < memory.bytes() / sizeof(Vector); at += sizeof...(Chain))
    ((sums[Chain] += data[at + Chain]), ...);
  const double seconds = monotonic_s() - start;
  volatile float used = static_cast<float>((sums[Chain][0] + ...));
  static_cast<void>(used);
  return seconds;
}

/// Bytes read from memory per second.
template <class Vector>
[[gnu::always_inline]] inline double measure_memory() {
  const MemoryArray memory;
  const auto repeats = static_cast<int>(kMemoryRepeatsMax * kMemoryBytesMin / (memory.bytes() + 1));
  double best = 0;
  for (int i = 0; i < std::max(repeats, kMemoryRepeatsMin); ++i) {
    const double seconds = seconds_of_sums<Vector>(memory, std::make_index_sequence<8>());
    best = std::max(best, static_cast<double>(memory.bytes()) / seconds);
  }
  return best;
}

template <class Floats, class Doubles>
[[gnu::always_inline]] inline ProcessorSpeed measure_with(bool memory) {
  return {.bytes_per_second = memory ? measure_memory<Floats>() : 0,
          .f32_flops_per_second = measure_flops<Floats>(),
          .f64_flops_per_second = measure_flops<Doubles>()};
}

// One function for each width of vectors, because the compiler may use wide ones in a function of that target only.

template <class Element, int kBytes>
struct Vectors {
  typedef Element Of __attribute__((vector_size(kBytes)));
};
template <int kBytes>
using Floats = typename Vectors<float, kBytes>::Of;
template <int kBytes>
using Doubles = typename Vectors<double, kBytes>::Of;

ProcessorSpeed measure_16(bool memory) { return measure_with<Floats<16>, Doubles<16>>(memory); }
#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) ProcessorSpeed measure_32(bool memory) {
  return measure_with<Floats<32>, Doubles<32>>(memory);
}
__attribute__((target("avx512f"))) ProcessorSpeed measure_64(bool memory) {
  return measure_with<Floats<64>, Doubles<64>>(memory);
}
#endif

/// Memory with the widest vectors; arithmetic with the best width, because wide vectors can lower the clock rate.
ProcessorSpeed measure_vectors() {
  ProcessorSpeed best;
  best.vector_bytes = widest_vector();
  const auto take = [&best](const ProcessorSpeed& found) {
    best.bytes_per_second = std::max(best.bytes_per_second, found.bytes_per_second);
    best.f32_flops_per_second = std::max(best.f32_flops_per_second, found.f32_flops_per_second);
    best.f64_flops_per_second = std::max(best.f64_flops_per_second, found.f64_flops_per_second);
  };
  take(measure_16(best.vector_bytes == 16));
#if defined(__x86_64__)
  if (best.vector_bytes >= 32) take(measure_32(best.vector_bytes == 32));
  if (best.vector_bytes >= 64) take(measure_64(true));
#endif
  return best;
}

}  // namespace

ProcessorSpeed measure_processor(int core) {
  ProcessorSpeed speed;
  std::thread([&speed, core] {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(static_cast<unsigned>(core), &only);
    // If the core is not allowed, any other core of this machine is as fast.
    static_cast<void>(::sched_setaffinity(0, sizeof only, &only));
    speed = measure_vectors();
    speed.clock_hz = measure_clock();
  }).join();
  return speed;
}

}  // namespace hone
