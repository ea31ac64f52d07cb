// ProcessorSpeed: clock rate and memory bandwidth of one core, measured.
#pragma once

namespace hone {

struct ProcessorSpeed {
  double clock_hz = 0;          ///< rate of additions that each depend on the one before
  double bytes_per_second = 0;  ///< of reads from memory, by one core
  int vector_bytes = 0;         ///< of the widest vectors
};

/// Measures on this core, in a thread of its own (about 100 ms).
ProcessorSpeed measure_processor(int core);

}  // namespace hone
