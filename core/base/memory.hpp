// What processes hold, as the kernel counts it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace hone {

/// Bytes of memory that this process holds, after what was freed has gone back; 0 where the kernel does not say.
std::size_t resident_bytes();

struct ProcessMemory {
  std::int64_t resident = 0;  ///< bytes
  std::int64_t shared = 0;    ///< of these, bytes of files and shared memory
};

/// Memory of one process; zeros when it is gone. The kernel reports nothing for a process whose first thread has exited,
/// though others of its threads may run on, so those are asked then (`of_threads`: false in tests alone).
ProcessMemory memory_of(pid_t pid, bool of_threads = true);

}  // namespace hone
