// ProcessorSpeed: clock rate, memory bandwidth and arithmetic rate of one core, measured.
#pragma once

namespace hone {

struct ProcessorSpeed {
  double clock_hz = 0;          ///< rate of additions that each depend on the one before
  double bytes_per_second = 0;  ///< of reads from memory, by one core
  int vector_bytes = 0;         ///< of the widest vectors
  double f32_flops_per_second =
      0;  ///< operations per second in single precision; a multiply-add counts as two
  double f64_flops_per_second = 0;
};

/// Measures the core with the number `core`, in a new thread on it. Takes about 0.2 s.
ProcessorSpeed measure_processor(int core);

}  // namespace hone
