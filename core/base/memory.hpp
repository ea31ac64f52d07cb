// Memory of processes, as counted by the kernel.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace hone {

/// Resident memory of this process after freed memory went back to the kernel; 0 if the kernel does not report it.
std::size_t resident_bytes();

struct ProcessMemory {
  std::int64_t resident = 0;  ///< bytes
  std::int64_t shared = 0;    ///< of these, bytes of files and shared memory
};

/// Memory of one process; zeros if it has ended. The kernel reports nothing for a process whose first thread
/// has exited, although other threads may run; then these are read (`of_threads`: false in tests only).
ProcessMemory memory_of(pid_t pid, bool of_threads = true);

}  // namespace hone
