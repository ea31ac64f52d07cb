#include "evaluate/processor_speed.hpp"

#include <sched.h>

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

// The fastest repeat counts: other work can only slow a measurement down. All cores share the memory, so it needs more.
constexpr int kRepeats = 5, kMemoryRepeats = 20;
constexpr std::size_t kMemoryBytes = std::size_t{64} << 20;  // more than the caches of one core

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
  constexpr std::uint64_t kSteps = 1'000'000;
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
  if (__builtin_cpu_supports("avx2")) return 32;
#endif
  return 16;
}

/// Vectors of 64-byte aligned memory.
class Memory {
 public:
  Memory() : data_(static_cast<float*>(std::aligned_alloc(64, kMemoryBytes)), &std::free) {
    if (data_ != nullptr) std::fill_n(data_.get(), kMemoryBytes / sizeof(float), 1.0F);
  }
  template <class Vector>
  const Vector* vectors() const {
    return reinterpret_cast<const Vector*>(data_.get());
  }

 private:
  std::unique_ptr<float, decltype(&std::free)> data_;
};

template <class Vector>
constexpr std::size_t kElements = sizeof(Vector) / sizeof(Vector{}[0]);

/// Seconds for `steps` steps of independent chains of `vector = vector * factor + summand`.
template <class Vector, std::size_t... Chain>
[[gnu::always_inline]] inline double seconds_of_chains(std::int64_t steps,
                                                       std::index_sequence<Chain...>) {
  Vector chains[] = {(Vector{} + static_cast<float>(Chain))...};
  volatile float opaque = 0.5F;  // so that the compiler computes nothing ahead
  const Vector factor = Vector{} + opaque, summand = Vector{} + opaque;
  const double start = monotonic_s();
  for (std::int64_t step = 0; step < steps; ++step)
    ((chains[Chain] = chains[Chain] * factor + summand), ...);
  const double seconds = monotonic_s() - start;
  opaque = static_cast<float>((chains[Chain][0] + ...));
  return seconds;
}

/// Floating-point operations per second. Two units with a latency of at most 5 cycles need 10 independent chains.
template <class Vector>
[[gnu::always_inline]] inline double measure_flops() {
  constexpr std::size_t kChains = 12;
  constexpr std::int64_t kSteps = 200'000;
  constexpr auto kCount = static_cast<double>(2 * kElements<Vector> * kChains * kSteps);
  double best = 0;
  for (int i = 0; i < kRepeats; ++i) {
    best = std::max(
        best, kCount / seconds_of_chains<Vector>(kSteps, std::make_index_sequence<kChains>()));
  }
  return best;
}

template <class Vector, std::size_t... Chain>
[[gnu::always_inline]] inline double seconds_of_sums(const Vector* data,
                                                     std::index_sequence<Chain...>) {
  Vector sums[sizeof...(Chain)] = {};
  const double start = monotonic_s();
  for (std::size_t at = 0; at < kMemoryBytes / sizeof(Vector); at += sizeof...(Chain))
    ((sums[Chain] += data[at + Chain]), ...);
  const double seconds = monotonic_s() - start;
  volatile float used = static_cast<float>((sums[Chain][0] + ...));
  static_cast<void>(used);
  return seconds;
}

/// Bytes read from memory per second.
template <class Vector>
[[gnu::always_inline]] inline double measure_memory(const Memory& memory) {
  const Vector* data = memory.vectors<Vector>();
  if (data == nullptr) return 0;
  double best = 0;
  for (int i = 0; i < kMemoryRepeats; ++i) {
    best = std::max(best, static_cast<double>(kMemoryBytes) /
                              seconds_of_sums(data, std::make_index_sequence<8>()));
  }
  return best;
}

template <class Floats, class Doubles>
[[gnu::always_inline]] inline ProcessorSpeed measure_with(const Memory& memory) {
  return {.bytes_per_second = measure_memory<Floats>(memory),
          .f32_flops = measure_flops<Floats>(),
          .f64_flops = measure_flops<Doubles>()};
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

ProcessorSpeed measure_16(const Memory& memory) {
  return measure_with<Floats<16>, Doubles<16>>(memory);
}
#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) ProcessorSpeed measure_32(const Memory& memory) {
  return measure_with<Floats<32>, Doubles<32>>(memory);
}
__attribute__((target("avx512f"))) ProcessorSpeed measure_64(const Memory& memory) {
  return measure_with<Floats<64>, Doubles<64>>(memory);
}
#endif

/// The best of all widths: wide vectors can lower the clock rate.
ProcessorSpeed measure_vectors() {
  const Memory memory;
  ProcessorSpeed best;
  best.vector_bytes = widest_vector();
  const auto take = [&](const ProcessorSpeed& found) {
    best.bytes_per_second = std::max(best.bytes_per_second, found.bytes_per_second);
    best.f32_flops = std::max(best.f32_flops, found.f32_flops);
    best.f64_flops = std::max(best.f64_flops, found.f64_flops);
  };
  take(measure_16(memory));
#if defined(__x86_64__)
  if (best.vector_bytes >= 32 && __builtin_cpu_supports("fma")) take(measure_32(memory));
  if (best.vector_bytes >= 64) take(measure_64(memory));
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
