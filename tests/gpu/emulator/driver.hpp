// The emulated driver's state: one device, its primary context, and what every entry point checks first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cuda_calls.hpp"
#include "fibers.hpp"
#include "heap.hpp"

namespace hone_emulated {

constexpr std::uint64_t kGranularity = 2 << 20;
constexpr std::uint64_t kMemoryBytes = std::uint64_t{8} << 30;  ///< unless a test says otherwise
constexpr std::uint32_t kSharedBytesDefault = 48 << 10;
constexpr std::uint32_t kSharedBytesMax = 227 << 10;
constexpr int kMultiprocessors = 4;
constexpr int kThreadsPerMultiprocessor = 2048;

/// Memory that cuMemCreate made or an import brought: a memory file, or none (-1) if only this process may map it.
struct Allocation {
  int fd = -1;
  std::uint64_t bytes = 0;
  std::uint32_t users = 0;  ///< the handle, and mappings
  bool own = false;         ///< counts towards the device's memory
};

struct Mapping {
  std::uint64_t bytes = 0;
  CUmemGenericAllocationHandle allocation = 0;
  CUmemAccess_flags access = CU_MEM_ACCESS_FLAGS_PROT_NONE;
};

struct Reservation {
  std::uint64_t bytes = 0;
  void* outer = nullptr;  ///< the addresses with a gap on both sides, so that an overrun faults
  std::uint64_t outer_bytes = 0;
};

struct Memory {
  std::map<CUmemGenericAllocationHandle, Allocation> allocations;
  std::map<CUdeviceptr, Mapping> mappings;
  std::map<CUdeviceptr, Reservation> reservations;
  std::map<void*, std::size_t> host;             ///< cuMemAllocHost's
  std::map<CUdeviceptr, std::uint64_t> globals;  ///< variables of modules that were asked for
  CUmemGenericAllocationHandle next_handle = 1;
  std::uint64_t used = 0;

  /// Whether all of it is mapped and accessible.
  bool holds(CUdeviceptr at, std::uint64_t bytes, bool write) const;
};

/// Whether a file of this name is next to the library. Tests change the device in this way, also for sandboxed processes.
bool lies_beside(const char* name);
/// The number of devices, from the file "emulated_devices" next to the library, or 1.
int device_count();
/// Whether the file of this name next to the library has this number of a device.
bool is_listed(const char* name, int ordinal);
/// The device's memory in bytes, from the file "emulated_memory" next to the library, or kMemoryBytes.
std::uint64_t memory_bytes();
/// Memory used by other processes. Processes that may write to the file "emulated_memory_used" next to the library record their use there; judges may, sandboxed processes may not.
std::uint64_t used_by_others();
void note_used(std::uint64_t bytes);
/// Whether this allocation must fail: the file "emulated_failures" next to the library has the number of failures, and the number of allocations before them. Counted in "emulated_memory_used".
bool is_to_fail();
/// Whether the file "emulated_contexts_lost" was written after this process had loaded the library.
bool has_lost_contexts();

/// The primary context, from the first retain to the last release.
struct Context {
  Context();
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  Block block;
  Heap heap;
  unsigned char* const
      shared;  ///< end of a block's dynamic shared memory, between inaccessible pages
  std::vector<int>
      spare_files;  ///< memory files for modules, for when a process can make none any more
  std::uint64_t print_bytes_max = 1 << 20;
  std::string printed;  ///< written out when the work is waited for
  bool has_printed = false;
};

struct Driver {
  std::mutex mutex;
  bool initialised = false;
  unsigned retained = 0;
  CUresult fault = CUDA_SUCCESS;  ///< sticky: only another process goes on
  std::unique_ptr<Context> context;
  Memory memory;
};

Driver& driver();

/// The context is current in this thread.
bool is_current();

/// What a call needs before it does anything: cuInit, a current context and, unless it only frees, no fault so far.
CUresult ready(bool despite_fault = false);

/// Returns once all work is done, with the context's fault if it has one.
CUresult wait_for_all();

/// Writes out what device code has printed.
void flush_print(Context& context);

/// Runs the grid, threads in order. A fault becomes the context's.
void run_grid(Context& context, const hone_emulated_module& module,
              const hone_emulated_kernel& kernel, const CUlaunchConfig& config, void** arguments);

/// What modules get.
const hone_emulated_runtime& runtime();

}  // namespace hone_emulated
