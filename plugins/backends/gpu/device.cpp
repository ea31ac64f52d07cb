// Opening a device: its primary context, one stream, limits on what device code may hoard.
#include "device.hpp"

#include <memory>

#include "errors.hpp"
#include "recorded/memory_pool.hpp"

namespace hone_gpu {
namespace {

using hone::plugin::fail;
using hone::plugin::guard;

/// What a submission may print between two waits; the driver drops what is beyond.
constexpr std::size_t kPrintfBytes = std::size_t{1} << 20;
/// What malloc() in device code has. Rationale: enough to be used, too little to hide an input in.
constexpr std::size_t kHeapBytes = std::size_t{8} << 20;

void open_context(hone_device& device) {
  const Driver& gpu = device.gpu;
  check(gpu, gpu.gpuDeviceGet(&device.ordinal, static_cast<int>(device.index)), "open device");
  if (attribute(device, kDeviceMemoryMaps) == 0) {
    fail(HONE_UNAVAILABLE, "the device has no memory that processes can share");
  }
  check(gpu, make_context(gpu, device.ordinal, &device.context), "make a context");
  use(device);
  check(gpu, limit_context(gpu, kLimitPrintf, kPrintfBytes), "limit what kernels print");
  check(gpu, limit_context(gpu, kLimitHeap, kHeapBytes), "limit what kernels allocate");
  check(gpu, gpu.gpuStreamCreate(&device.stream, kStreamNonBlocking), "make a stream");
  const gpuAllocation allocation = allocation_of(device);
  check(gpu,
        gpu.gpuMemGetAllocationGranularity(&device.granularity, &allocation, kGranularityMinimum),
        "granularity of memory");
  if (device.granularity == 0) fail(HONE_UNAVAILABLE, "the device gives no shareable memory");
  device.shared_max = static_cast<std::uint32_t>(attribute(device, kDeviceSharedBytes));
  device.pitch_max = static_cast<std::size_t>(attribute(device, kDevicePitchMax));
}

void close_context(hone_device& device) {
  const Driver& gpu = device.gpu;
  if (device.context == nullptr) return;
  use_context(gpu, device.ordinal, device.context);
  device.pool.reset();
  for (void* memory : device.pinned) gpu.gpuMemFreeHost(memory);
  for (const gpuEvent event : device.marks) {
    if (event != nullptr) gpu.gpuEventDestroy(event);
  }
  if (device.stream != nullptr) gpu.gpuStreamDestroy(device.stream);
  drop_context(gpu, device.ordinal);
}

}  // namespace

void use(const hone_device& device) {
  check(device.gpu, use_context(device.gpu, device.ordinal, device.context), "use the context");
}

int attribute(const hone_device& device, int which) {
  int value = 0;
  return device.gpu.gpuDeviceGetAttribute(&value, which, device.ordinal) == 0 ? value : 0;
}

gpuAllocation allocation_of(const hone_device& device) {
  gpuAllocation allocation{};
  allocation.type = kMemoryPinned;
  allocation.handle_types = kHandlePosix;
  allocation.location = {kMemoryOfDevice, device.ordinal};
  return allocation;
}

int32_t open_device(const hone_host*, uint32_t index, hone_device** out, hone_error* error) {
  return guard(error, [&] {
    const Driver& gpu = driver();
    if (index >= static_cast<uint32_t>(gpu.device_count)) {
      fail(HONE_NOT_FOUND, "device " + std::to_string(index) + ": the driver sees " +
                               std::to_string(gpu.device_count));
    }
    auto device = std::make_unique<hone_device>(
        hone_device{gpu, index, 0, nullptr, nullptr, 0, 0, 0, {}, {}, {}, nullptr, nullptr, 0, 0});
    try {
      open_context(*device);
      learn_facts(*device);
    } catch (...) {
      close_context(*device);
      throw;
    }
    *out = device.release();
  });
}

void close_device(hone_device* device) {
  if (device == nullptr) return;
  close_context(*device);
  delete device;
}

int32_t facts(hone_device* device, hone_sink* out, hone_error* error) {
  return guard(error, [&] { hone::plugin::write(out, current_facts(*device)); });
}

int32_t pin_memory(hone_device* device, uint64_t bytes, void** out, hone_error* error) {
  return guard(error, [&] {
    use(*device);
    device->pinned.reserve(device->pinned.size() + 1);
    void* memory = nullptr;
    check(device->gpu, device->gpu.gpuMemAllocHost(&memory, bytes), "pin host memory");
    device->pinned.push_back(memory);
    *out = memory;
  });
}

int32_t wait(hone_device* device, hone_error* error) {
  return guard(error, [&] {
    use(*device);
    check(device->gpu, device->gpu.gpuStreamSynchronize(device->stream), "kernel", true);
    // A module's work runs on streams of its own.
    if (device->python != nullptr)
      check(device->gpu, synchronize_context(device->gpu), "module", true);
  });
}

int32_t use_python(hone_device* device, const hone_python* python, hone_error*) {
  device->python = python;
  return HONE_OK;
}

int32_t mark(hone_device* device, uint32_t which, hone_error* error) {
  return guard(error, [&] {
    if (which > 1) fail(HONE_INVALID_ARGUMENT, "mark " + std::to_string(which));
    use(*device);
    gpuEvent& event = device->marks[which];
    if (event == nullptr) check(device->gpu, device->gpu.gpuEventCreate(&event, 0), "make a mark");
    // A module's work is on the default stream unless the module changes it.
    const bool module = runs_modules(*device) && device->plans == 0;
    gpuStream stream = module ? nullptr : device->stream;
    check(device->gpu, device->gpu.gpuEventRecord(event, stream), "mark");
  });
}

int32_t between_marks(hone_device* device, double* seconds, hone_error* error) {
  return guard(error, [&] {
    if (device->marks[0] == nullptr || device->marks[1] == nullptr)
      fail(HONE_INVALID_ARGUMENT, "no marks were made");
    use(*device);
    float milliseconds = 0;
    check(device->gpu,
          device->gpu.gpuEventElapsedTime(&milliseconds, device->marks[0], device->marks[1]),
          "time between marks");
    *seconds = static_cast<double>(milliseconds) * 1e-3;
  });
}

int32_t free_memory(hone_device* device, uint64_t* bytes, hone_error* error) {
  return guard(error, [&] {
    use(*device);
    std::size_t free_bytes = 0, total = 0;
    check(device->gpu, device->gpu.gpuMemGetInfo(&free_bytes, &total), "ask for free memory");
    *bytes = free_bytes;
  });
}

}  // namespace hone_gpu
