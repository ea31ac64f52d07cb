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

/// Measures on this core, in a thread of its own (about 0.2 s of the core).
ProcessorSpeed measure_processor(int core);

}  // namespace hone
