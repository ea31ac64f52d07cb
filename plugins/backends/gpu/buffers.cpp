// Arenas: device memory with an address of its own, passed between processes as a file descriptor.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "device.hpp"
#include "errors.hpp"

namespace hone_gpu {
namespace {

using hone::plugin::fail;
using hone::plugin::guard;

void require_inside(const hone_buffer& buffer, uint64_t at, uint64_t size, const char* what) {
  if (at > buffer.bytes || size > buffer.bytes - at) {
    fail(HONE_INVALID_ARGUMENT, std::string(what) + " beyond the buffer");
  }
}

uint64_t rounded_up(const hone_device& device, uint64_t bytes) {
  const uint64_t unit = device.granularity;
  uint64_t sum = 0;
  if (bytes == 0 || __builtin_add_overflow(bytes, unit - 1, &sum)) {
    fail(HONE_INVALID_ARGUMENT, "a buffer of " + std::to_string(bytes) + " bytes");
  }
  return sum / unit * unit;
}

/// Gives the memory back, whatever of it there is; in a context that a fault has ended, what the
/// driver answers changes nothing.
void destroy(hone_buffer& buffer) {
  const Driver& gpu = buffer.device.gpu;
  use_context(gpu, buffer.device.ordinal, buffer.device.context);
  if (buffer.is_exact) {
    if (buffer.address != 0) free_exactly(gpu, to_address(buffer.address));
    return;
  }
  if (buffer.address != 0) {
    gpu.gpuMemUnmap(to_address(buffer.address), buffer.mapped);
    gpu.gpuMemAddressFree(to_address(buffer.address), buffer.mapped);
  }
  if (buffer.memory != gpuMemory{}) gpu.gpuMemRelease(buffer.memory);
}

/// Maps `buffer.memory` where the driver likes.
void map(hone_buffer& buffer) {
  const hone_device& device = buffer.device;
  const Driver& gpu = device.gpu;
  gpuAddress address{};
  check(gpu, gpu.gpuMemAddressReserve(&address, buffer.mapped, 0, to_address(0), 0),
        "reserve addresses");
  const gpuResult mapped = gpu.gpuMemMap(address, buffer.mapped, 0, buffer.memory, 0);
  if (mapped != 0) {
    gpu.gpuMemAddressFree(address, buffer.mapped);
    check(gpu, mapped, "map memory");
  }
  buffer.address = from_address(address);
  const gpuAccess access{{kMemoryOfDevice, device.ordinal}, kAccessReadWrite};
  check(gpu, gpu.gpuMemSetAccess(address, buffer.mapped, &access, 1), "allow access to memory");
}

/// Runs `fill` on a new buffer and hands it out; gives everything back where that fails.
template <typename Fill>
void make_buffer(hone_device& device, uint64_t bytes, hone_buffer** out, Fill&& fill) {
  use(device);
  auto buffer = std::make_unique<hone_buffer>(
      hone_buffer{device, bytes, rounded_up(device, bytes), gpuMemory{}, 0, false});
  try {
    fill(*buffer);
  } catch (...) {
    destroy(*buffer);
    throw;
  }
  *out = buffer.release();
}

constexpr unsigned char kPoison = 0x5a;  // as hone_backend_factory::create_exact_buffer says

void synchronize(const hone_device& device, const char* what) {
  check(device.gpu, device.gpu.gpuStreamSynchronize(device.stream), what);
}

}  // namespace

int32_t create_buffer(hone_device* device, uint64_t bytes, hone_buffer** out, hone_error* error) {
  return guard(error, [&] {
    make_buffer(*device, bytes, out, [&](hone_buffer& buffer) {
      const Driver& gpu = device->gpu;
      const gpuAllocation allocation = allocation_of(*device);
      check(gpu, gpu.gpuMemCreate(&buffer.memory, buffer.mapped, &allocation, 0),
            "make device memory");
      map(buffer);
      check(gpu, gpu.gpuMemsetD8Async(to_address(buffer.address), 0, buffer.mapped, device->stream),
            "clear device memory");
      synchronize(*device, "clear device memory");
    });
  });
}

int32_t create_exact_buffer(hone_device* device, uint64_t bytes, hone_buffer** out,
                            hone_error* error) {
  return guard(error, [&] {
    make_buffer(*device, bytes, out, [&](hone_buffer& buffer) {
      buffer.is_exact = true;
      gpuAddress address{};
      check(device->gpu, allocate_exactly(device->gpu, &address, bytes), "allocate device memory");
      buffer.address = from_address(address);
      // Rationale: the memory may have last held another process's data, which the driver need not erase.
      const Driver& gpu = device->gpu;
      check(gpu, gpu.gpuMemsetD8Async(address, kPoison, bytes, device->stream),
            "clear device memory");
      synchronize(*device, "clear device memory");
    });
  });
}

int32_t export_buffer(hone_buffer* buffer, int32_t* fd, hone_error* error) {
  return guard(error, [&] {
    if (buffer->is_exact) fail(HONE_INVALID_ARGUMENT, "export: the buffer cannot be shared");
    use(buffer->device);
    int exported = -1;
    const Driver& gpu = buffer->device.gpu;
    check(gpu, gpu.gpuMemExportToShareableHandle(&exported, buffer->memory, kHandlePosix, 0),
          "export device memory");
    // Rationale: the driver does not set it, and the descriptor is the whole arena.
    if (fcntl(exported, F_SETFD, FD_CLOEXEC) != 0) {
      const int reason = errno;
      close(exported);
      fail(HONE_UNAVAILABLE, std::string("exported descriptor: ") + std::strerror(reason));
    }
    *fd = exported;
  });
}

int32_t import_buffer(hone_device* device, int32_t fd, uint64_t bytes, hone_buffer** out,
                      hone_error* error) {
  return guard(error, [&] {
    make_buffer(*device, bytes, out, [&](hone_buffer& buffer) {
      const Driver& gpu = device->gpu;
      int borrowed = fd;
      check(gpu,
            gpu.gpuMemImportFromShareableHandle(&buffer.memory, importable(&borrowed, gpu.version),
                                                kHandlePosix),
            "import device memory");
      map(buffer);
    });
  });
}

/// The memory is the device's alone.
void* map_buffer(hone_buffer*) { return nullptr; }

int32_t write_buffer(hone_buffer* buffer, uint64_t at, const void* data, uint64_t size,
                     hone_error* error) {
  return guard(error, [&] {
    require_inside(*buffer, at, size, "write");
    if (size == 0) return;
    const hone_device& device = buffer->device;
    use(device);
    check(
        device.gpu,
        device.gpu.gpuMemcpyHtoDAsync(to_address(buffer->address + at), data, size, device.stream),
        "write");
    synchronize(device, "write");
  });
}

int32_t read_buffer(hone_buffer* buffer, uint64_t at, void* data, uint64_t size,
                    hone_error* error) {
  return guard(error, [&] {
    require_inside(*buffer, at, size, "read");
    if (size == 0) return;
    const hone_device& device = buffer->device;
    use(device);
    check(
        device.gpu,
        device.gpu.gpuMemcpyDtoHAsync(data, to_address(buffer->address + at), size, device.stream),
        "read");
    synchronize(device, "read");
  });
}

int32_t copy_buffer(hone_buffer* to, uint64_t to_at, hone_buffer* from, uint64_t from_at,
                    uint64_t size, hone_error* error) {
  return guard(error, [&] {
    require_inside(*to, to_at, size, "copy");
    require_inside(*from, from_at, size, "copy");
    if (size == 0) return;
    if (to == from && to_at < from_at + size && from_at < to_at + size) {
      fail(HONE_INVALID_ARGUMENT, "copy onto itself");
    }
    const hone_device& device = to->device;
    use(device);
    check(device.gpu,
          device.gpu.gpuMemcpyDtoDAsync(to_address(to->address + to_at),
                                        to_address(from->address + from_at), size, device.stream),
          "copy");
  });
}

// Rationale: one strided copy is one transfer of the copy engine, which costs no change of context
// however many rows it has (DESIGN, "Measured"); a gathering kernel would cost 150 µs.
int32_t read_rows(hone_buffer* buffer, uint64_t at, uint64_t pitch, uint64_t width, uint64_t rows,
                  void* data, hone_error* error) {
  return guard(error, [&] {
    if (rows == 0 || width == 0) return;
    uint64_t size = 0;
    if (__builtin_mul_overflow(rows - 1, pitch, &size) ||
        __builtin_add_overflow(size, width, &size) || width > pitch) {
      fail(HONE_INVALID_ARGUMENT, "rows beyond the buffer");
    }
    require_inside(*buffer, at, size, "rows");
    const hone_device& device = buffer->device;
    use(device);
    if (pitch > device.pitch_max && rows > 1) {
      for (uint64_t row = 0; row < rows; ++row) {
        check(device.gpu,
              device.gpu.gpuMemcpyDtoHAsync(static_cast<char*>(data) + row * width,
                                            to_address(buffer->address + at + row * pitch), width,
                                            device.stream),
              "read a row");
      }
    } else {
      gpuCopy2D copy{};
      copy.from_kind = kCopyDevice;
      copy.from_device = to_address(buffer->address + at);
      copy.from_pitch = rows > 1 ? pitch : width;
      copy.to_kind = kCopyHost;
      copy.to_host = data;
      copy.to_pitch = width;
      copy.width = width;
      copy.height = rows;
      check(device.gpu, device.gpu.gpuMemcpy2DAsync(&copy, device.stream), "read rows");
    }
    synchronize(device, "read rows");
  });
}

uint64_t buffer_address(hone_buffer* buffer) { return buffer->address; }

void release_buffer(hone_buffer* buffer) {
  if (buffer == nullptr) return;
  destroy(*buffer);
  delete buffer;
}

}  // namespace hone_gpu
