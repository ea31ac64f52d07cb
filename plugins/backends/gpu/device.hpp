// The functions of the backend's table that work on a device, and what stands behind their handles.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "driver.hpp"
#include "hone/backend.h"
#include "hone/plugin.hpp"

namespace hone_gpu {
class MemoryPool;
class Replay;
}  // namespace hone_gpu

/// A device's primary context and the one stream on which everything of this process runs, so that
/// copies, fills and launches are in order. One thread at a time.
struct hone_device {
  const hone_gpu::Driver& gpu;
  std::uint32_t index;
  hone_gpu::gpuDevice ordinal = 0;
  hone_gpu::gpuContext context = nullptr;
  hone_gpu::gpuStream stream = nullptr;
  std::size_t granularity = 0;   ///< of allocations, in bytes
  std::size_t pitch_max = 0;     ///< of a strided copy
  std::uint32_t shared_max = 0;  ///< bytes of shared memory that a block may have
  hone_gpu::gpuEvent marks[2] = {};
  std::vector<void*> pinned;
  hone::plugin::Value facts;                   ///< all but "throttled"
  const hone_python* python = nullptr;         ///< loads and runs artifacts, which are modules then
  std::shared_ptr<hone_gpu::MemoryPool> pool;  ///< of recorded plans; null before the first
  std::uint32_t plans = 0;                     ///< recorded plans that are loaded
  std::uint64_t plans_loaded = 0;              ///< with operators, ever
};

/// Device memory at an address of its own in this process. Owns the mapping.
struct hone_buffer {
  hone_device& device;
  std::uint64_t bytes;   ///< what was asked for
  std::uint64_t mapped;  ///< in whole units of the device's granularity
  hone_gpu::gpuMemory memory = 0;
  std::uint64_t address = 0;
  bool is_exact = false;  ///< allocated by the driver, with exactly `bytes` bytes
};

/// Rationale of its size: where the driver cannot tell what arguments a kernel has, a launch that
/// gives too few makes it read on; it then finds zeros, and pointers to zeros.
struct hone_kernel {
  static constexpr std::size_t kBeyond =
      4096;  ///< in words: the most that a kernel's arguments hold

  hone_kernel(hone_device& of, const std::string& name)
      : device(of),
        label("kernel '" + name + "'"),
        values(HONE_ARGUMENTS_MAX + kBeyond),
        pointers(kBeyond, &values[HONE_ARGUMENTS_MAX]) {
    for (std::size_t i = 0; i < HONE_ARGUMENTS_MAX; ++i) pointers[i] = &values[i];
  }
  hone_kernel(const hone_kernel&) = delete;
  hone_kernel& operator=(const hone_kernel&) = delete;

  hone_device& device;
  hone_gpu::gpuFunction function = nullptr;
  int32_t number = 0;                  ///< of the device's `python`, in the place of a function
  hone_gpu::Replay* replay = nullptr;  ///< of a recorded plan, in the place of both
  std::string label;                   ///< for messages
  std::vector<std::uint32_t> kinds;
  std::uint32_t shared_allowed =
      0;  ///< dynamic shared memory in bytes that it may be launched with
  std::vector<std::uint64_t> values;
  std::vector<void*> pointers;
};

struct hone_artifact {
  hone_device& device;
  hone_gpu::gpuModule module = nullptr;
  hone::plugin::Value
      entries;  ///< the text that a launch names, and the kernel's name in the image
  std::vector<std::unique_ptr<hone_kernel>> kernels;
  std::shared_ptr<hone_gpu::Replay> replay;  ///< of a recorded plan; else null
};

namespace hone_gpu {

/// Whether artifacts other than recorded plans are modules, which the interpreter loads and runs. An interpreter without
/// load() makes calls of operators for plans, and no more.
inline bool runs_modules(const hone_device& device) {
  return device.python != nullptr && device.python->load != nullptr;
}

/// Makes the device's context the calling thread's.
void use(const hone_device& device);

/// An attribute of the device; 0 where the driver does not know it.
int attribute(const hone_device& device, int which);
/// How memory that another process can import is asked for.
gpuAllocation allocation_of(const hone_device& device);

/// Allows a kernel `bytes` bytes of dynamic shared memory. `allowed`: its limit so far, which is raised. Throws a
/// Failure if the device has less.
void grant_shared(const hone_device& device, gpuFunction function, const std::string& label,
                  std::uint32_t bytes, std::uint32_t& allowed);

/// Fills `device.facts`.
void learn_facts(hone_device& device);
/// hone_backend_factory::facts, and "throttled" as it is now.
hone::plugin::Value current_facts(const hone_device& device);
/// The version of the driver as its vendor writes it.
std::string driver_version(const Driver& gpu);

int32_t open_device(const hone_host* host, uint32_t index, hone_device** out, hone_error* error);
void close_device(hone_device* device);
int32_t facts(hone_device* device, hone_sink* out, hone_error* error);

int32_t create_buffer(hone_device* device, uint64_t bytes, hone_buffer** out, hone_error* error);
int32_t create_exact_buffer(hone_device* device, uint64_t bytes, hone_buffer** out,
                            hone_error* error);
int32_t export_buffer(hone_buffer* buffer, int32_t* fd, hone_error* error);
int32_t import_buffer(hone_device* device, int32_t fd, uint64_t bytes, hone_buffer** out,
                      hone_error* error);
void* map_buffer(hone_buffer* buffer);
int32_t write_buffer(hone_buffer* buffer, uint64_t at, const void* data, uint64_t size,
                     hone_error* error);
int32_t read_buffer(hone_buffer* buffer, uint64_t at, void* data, uint64_t size, hone_error* error);
int32_t copy_buffer(hone_buffer* to, uint64_t to_at, hone_buffer* from, uint64_t from_at,
                    uint64_t size, hone_error* error);
int32_t read_rows(hone_buffer* buffer, uint64_t at, uint64_t pitch, uint64_t width, uint64_t rows,
                  void* data, hone_error* error);
int32_t pin_memory(hone_device* device, uint64_t bytes, void** out, hone_error* error);
uint64_t buffer_address(hone_buffer* buffer);
void release_buffer(hone_buffer* buffer);

int32_t use_python(hone_device* device, const hone_python* python, hone_error* error);

int32_t prepare_load(hone_device* device, uint32_t threads, hone_error* error);
int32_t load(hone_device* device, int32_t fd, hone_artifact** out, hone_error* error);
void unload(hone_artifact* artifact);
int32_t get_kernel(hone_artifact* artifact, const char* entry, const uint32_t* kinds,
                   uint32_t count, hone_kernel** out, hone_error* error);
int32_t launch(hone_kernel* kernel, hone_buffer* buffer, const hone_launch* launch,
               hone_error* error);
int32_t chosen_configurations(hone_kernel* kernel, uint32_t* out, uint32_t max, uint32_t* count,
                              hone_error* error);
int32_t wait(hone_device* device, hone_error* error);
int32_t mark(hone_device* device, uint32_t which, hone_error* error);
int32_t between_marks(hone_device* device, double* seconds, hone_error* error);
int32_t free_memory(hone_device* device, uint64_t* bytes, hone_error* error);

}  // namespace hone_gpu
