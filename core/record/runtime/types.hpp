// The types of the vendor's public runtime interface (version 13) that the recording runtime uses,
// declared here so that building hone needs no toolkit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "record/driver/types.hpp"

namespace hone::record {

/// Status codes of the runtime that the driver lacks. The others have the driver's numbers.
inline constexpr int kInvalidSymbol = 13;
inline constexpr int kInvalidDeviceFunction = 98;

inline constexpr int kRuntimeVersion = 13000;

struct Dim3 {
  unsigned x, y, z;
};

struct RuntimeLaunchConfig {
  Dim3 grid, block;
  std::size_t shared_bytes;
  StreamHandle stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

struct FunctionAttributes {
  std::size_t shared_bytes, constant_bytes, local_bytes;
  int block_threads_max, registers, ptx_version, binary_version, caches;
  int shared_dynamic_max, carveout;
  int cluster_must_be_set, cluster_width, cluster_height, cluster_depth;
  int cluster_scheduling, nonportable_clusters;
  int reserved[16];
};

struct PointerAttributes {
  int type, device;
  void *device_pointer, *host_pointer;
  long reserved[8];
};

/// All members are needed for the layout; few are set.
struct DeviceProperties {
  char name[256];
  Uuid uuid;
  char luid[8];
  unsigned luid_mask;
  std::size_t memory_bytes, shared_bytes;
  int block_registers, warp_threads;
  std::size_t pitch_max;
  int block_threads, block_size[3], grid_size[3];
  std::size_t constant_bytes;
  int major, minor;
  std::size_t texture_alignment, texture_pitch_alignment;
  int multiprocessors, integrated, can_map_host_memory;
  int textures[25], surfaces[14];
  std::size_t surface_alignment;
  int concurrent_kernels, ecc, pci_bus, pci_device, pci_domain, tcc, async_engines;
  int unified_addressing, memory_bus_bits, cache_bytes, persisting_cache_bytes;
  int multiprocessor_threads, stream_priorities, global_l1, local_l1;
  std::size_t multiprocessor_shared_bytes;
  int multiprocessor_registers, managed_memory, multi_device_board, multi_device_group;
  int host_atomics, pageable_memory, concurrent_managed, preemption, registered_pointers;
  int cooperative;
  std::size_t shared_bytes_max;
  int page_tables, direct_managed, multiprocessor_blocks, access_window_bytes;
  std::size_t shared_bytes_reserved;
  int host_register, sparse_arrays, host_register_read_only, timeline_semaphores, memory_pools;
  int direct_rdma;
  unsigned direct_rdma_flushes;
  int direct_rdma_order;
  unsigned memory_pool_handles;
  int deferred_arrays, ipc_events, clusters, unified_functions, numa_config, numa_id, mps;
  int host_numa;
  unsigned pci_device_ids, pci_subsystem_ids;
  int host_numa_ipc;
  int reserved[56];
};

}  // namespace hone::record
