// Copies within device memory and to and from it, and fills.
#include <cstring>

#include "driver.hpp"
#include "streams.hpp"

namespace hone_emulated {
namespace {

char* pointer(CUdeviceptr at) { return reinterpret_cast<char*>(at); }

/// Checks the device's side of a copy, and that the context may work.
CUresult ready_for(CUdeviceptr at, std::uint64_t bytes, bool write) {
  if (const CUresult result = ready(); result != CUDA_SUCCESS) return result;
  return driver().memory.holds(at, bytes, write) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult copy_in(CUdeviceptr to, const void* from, std::size_t bytes) {
  const std::lock_guard lock(driver().mutex);
  const CUresult result = ready_for(to, bytes, true);
  if (result == CUDA_SUCCESS) std::memcpy(pointer(to), from, bytes);
  return result;
}

CUresult copy_out(void* to, CUdeviceptr from, std::size_t bytes) {
  const std::lock_guard lock(driver().mutex);
  const CUresult result = ready_for(from, bytes, false);
  if (result == CUDA_SUCCESS) std::memcpy(to, pointer(from), bytes);
  return result;
}

/// One side of a two-dimensional copy.
struct Side {
  char* base;
  std::size_t pitch;
  bool device;

  bool valid(std::size_t width, std::size_t height, bool write) const {
    if (base == nullptr || pitch < width) return false;
    const auto at = reinterpret_cast<CUdeviceptr>(base);
    return !device || driver().memory.holds(at, (height - 1) * pitch + width, write);
  }
};

Side side(CUmemorytype type, const void* host, CUdeviceptr device, std::size_t pitch, std::size_t x,
          std::size_t y) {
  const bool on_device = type == CU_MEMORYTYPE_DEVICE;
  char* base = on_device ? pointer(device) : static_cast<char*>(const_cast<void*>(host));
  return {base == nullptr ? nullptr : base + y * pitch + x, pitch, on_device};
}

bool known(CUmemorytype type) { return type == CU_MEMORYTYPE_HOST || type == CU_MEMORYTYPE_DEVICE; }

CUresult copy_within(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  const std::lock_guard lock(driver().mutex);
  CUresult result = ready_for(to, bytes, true);
  if (result == CUDA_SUCCESS) result = ready_for(from, bytes, false);
  if (result == CUDA_SUCCESS) std::memmove(pointer(to), pointer(from), bytes);
  return result;
}

CUresult copy_rows(const CUDA_MEMCPY2D& what) {
  const std::lock_guard lock(driver().mutex);
  if (const CUresult result = ready(); result != CUDA_SUCCESS) return result;
  const std::size_t width = what.WidthInBytes;
  if (width == 0 || what.Height == 0) return CUDA_SUCCESS;
  const Side from = side(what.srcMemoryType, what.srcHost, what.srcDevice, what.srcPitch,
                         what.srcXInBytes, what.srcY);
  const Side to = side(what.dstMemoryType, what.dstHost, what.dstDevice, what.dstPitch,
                       what.dstXInBytes, what.dstY);
  if (!from.valid(width, what.Height, false) || !to.valid(width, what.Height, true))
    return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t row = 0; row < what.Height; ++row)
    std::memmove(to.base + row * to.pitch, from.base + row * from.pitch, width);
  return CUDA_SUCCESS;
}

template <typename T>
CUresult set_rows(CUdeviceptr at, std::size_t pitch, T value, std::size_t count, std::size_t rows) {
  const std::lock_guard lock(driver().mutex);
  if (count == 0 || rows == 0) return ready();
  const std::size_t width = count * sizeof value;
  if (at % sizeof value != 0 || (rows > 1 && pitch < width)) return CUDA_ERROR_INVALID_VALUE;
  const CUresult result = ready_for(at, (rows - 1) * pitch + width, true);
  if (result != CUDA_SUCCESS) return result;
  for (std::size_t row = 0; row < rows; ++row) {
    char* begin = pointer(at) + row * pitch;
    if (sizeof value == 1) {
      std::memset(begin, static_cast<int>(value), width);
      continue;
    }
    for (std::size_t i = 0; i < count; ++i)
      std::memcpy(begin + i * sizeof value, &value, sizeof value);
  }
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace hone_emulated

using namespace hone_emulated;

// NOLINTBEGIN(readability-identifier-naming): the driver's names.
HONE_EMULATED_API CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t bytes) {
  return copy_in(to, from, bytes);
}
HONE_EMULATED_API CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
  return copy_out(to, from, bytes);
}
HONE_EMULATED_API CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes,
                                                CUstream stream) {
  return in_order(stream, [=] { return copy_in(to, from, bytes); });
}
HONE_EMULATED_API CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes,
                                                CUstream stream) {
  return in_order(stream, [=] { return copy_out(to, from, bytes); });
}

HONE_EMULATED_API CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                                                CUstream stream) {
  return in_order(stream, [=] { return copy_within(to, from, bytes); });
}

HONE_EMULATED_API CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* what, CUstream stream) {
  if (what == nullptr || !known(what->srcMemoryType) || !known(what->dstMemoryType))
    return CUDA_ERROR_INVALID_VALUE;
  return in_order(stream, [copy = *what] { return copy_rows(copy); });
}

HONE_EMULATED_API CUresult cuMemsetD8Async(CUdeviceptr at, unsigned char value, std::size_t count,
                                           CUstream stream) {
  return in_order(stream, [=] { return set_rows(at, 0, value, count, 1); });
}
HONE_EMULATED_API CUresult cuMemsetD16Async(CUdeviceptr at, unsigned short value, std::size_t count,
                                            CUstream stream) {
  return in_order(stream, [=] { return set_rows(at, 0, value, count, 1); });
}
HONE_EMULATED_API CUresult cuMemsetD32Async(CUdeviceptr at, unsigned value, std::size_t count,
                                            CUstream stream) {
  return in_order(stream, [=] { return set_rows(at, 0, value, count, 1); });
}
HONE_EMULATED_API CUresult cuMemsetD2D8Async(CUdeviceptr at, std::size_t pitch, unsigned char value,
                                             std::size_t width, std::size_t rows, CUstream stream) {
  return in_order(stream, [=] { return set_rows(at, pitch, value, width, rows); });
}
HONE_EMULATED_API CUresult cuMemsetD2D16Async(CUdeviceptr at, std::size_t pitch,
                                              unsigned short value, std::size_t width,
                                              std::size_t rows, CUstream stream) {
  return in_order(stream, [=] { return set_rows(at, pitch, value, width, rows); });
}
HONE_EMULATED_API CUresult cuMemsetD2D32Async(CUdeviceptr at, std::size_t pitch, unsigned value,
                                              std::size_t width, std::size_t rows,
                                              CUstream stream) {
  return in_order(stream, [=] { return set_rows(at, pitch, value, width, rows); });
}
// NOLINTEND(readability-identifier-naming)
