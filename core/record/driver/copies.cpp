// The driver's copies and fills, as CopyRequest and FillRequest.
#include "record/driver/api.hpp"

namespace {

using namespace hone::record;  // NOLINT: functions of C cannot stand in a namespace

int copy_bytes(std::uint64_t to, std::uint64_t from, std::size_t bytes, StreamHandle stream) {
  return guarded([&](Recording& r) {
    return copy(r, {.to = to, .from = from, .bytes = bytes, .stream = stream});
  });
}
std::uint64_t number(const void* host) { return reinterpret_cast<std::uint64_t>(host); }

int fill_rows(DeviceAddress to, std::size_t pitch, std::uint32_t value, std::uint32_t width,
              std::size_t count, std::size_t rows, StreamHandle stream) {
  return guarded([&](Recording& r) {
    return fill(r, {.to = to,
                    .width = width,
                    .value = value,
                    .count = count,
                    .rows = rows,
                    .pitch = pitch,
                    .stream = stream});
  });
}

/// False if the side is a texture array.
template <typename Side>
bool start_of(const Side& side, std::uint64_t& start) {
  if (side.type == kMemoryArray) return false;
  const std::uint64_t base = side.type == kMemoryHost ? number(side.host) : side.device;
  start = base + side.y * side.pitch + side.x_bytes;
  return true;
}

int copy_rows(const Copy2D& rows, StreamHandle stream, const char* function) {
  CopyRequest request;
  if (!start_of(rows.from, request.from) || !start_of(rows.to, request.to))
    return not_supported(function);
  request.bytes = rows.width_bytes;
  request.rows = rows.height;
  request.from_pitch = rows.from.pitch;
  request.to_pitch = rows.to.pitch;
  request.stream = stream;
  return guarded([&](Recording& r) { return copy(r, request); });
}

int copy_slices(const Copy3D& slices, StreamHandle stream, const char* function) {
  CopyRequest request;
  if (!start_of(slices.from, request.from) || !start_of(slices.to, request.to))
    return not_supported(function);
  request.bytes = slices.width_bytes;
  request.rows = slices.height;
  request.from_pitch = slices.from.pitch;
  request.to_pitch = slices.to.pitch;
  request.stream = stream;
  const std::uint64_t from_slice = slices.from.pitch * slices.from.height;
  const std::uint64_t to_slice = slices.to.pitch * slices.to.height;
  request.from += slices.from.z * from_slice;
  request.to += slices.to.z * to_slice;
  return guarded([&](Recording& r) -> int {
    for (std::size_t slice = 0; slice < slices.depth; ++slice) {
      if (const Status status = copy(r, request); status != kOk) return status;
      request.from += from_slice;
      request.to += to_slice;
    }
    return kOk;
  });
}

}  // namespace

HONE_RECORD_API int cuMemcpy(DeviceAddress to, DeviceAddress from, std::size_t bytes) {
  return copy_bytes(to, from, bytes, nullptr);
}
HONE_RECORD_API int cuMemcpyAsync(DeviceAddress to, DeviceAddress from, std::size_t bytes,
                                  StreamHandle stream) {
  return copy_bytes(to, from, bytes, stream);
}
HONE_RECORD_API int cuMemcpyHtoD_v2(DeviceAddress to, const void* from, std::size_t bytes) {
  return copy_bytes(to, number(from), bytes, nullptr);
}
HONE_RECORD_API int cuMemcpyHtoDAsync_v2(DeviceAddress to, const void* from, std::size_t bytes,
                                         StreamHandle stream) {
  return copy_bytes(to, number(from), bytes, stream);
}
HONE_RECORD_API int cuMemcpyDtoH_v2(void* to, DeviceAddress from, std::size_t bytes) {
  return copy_bytes(number(to), from, bytes, nullptr);
}
HONE_RECORD_API int cuMemcpyDtoHAsync_v2(void* to, DeviceAddress from, std::size_t bytes,
                                         StreamHandle stream) {
  return copy_bytes(number(to), from, bytes, stream);
}
HONE_RECORD_API int cuMemcpyDtoD_v2(DeviceAddress to, DeviceAddress from, std::size_t bytes) {
  return copy_bytes(to, from, bytes, nullptr);
}
HONE_RECORD_API int cuMemcpyDtoDAsync_v2(DeviceAddress to, DeviceAddress from, std::size_t bytes,
                                         StreamHandle stream) {
  return copy_bytes(to, from, bytes, stream);
}
HONE_RECORD_API int cuMemcpyPeer(DeviceAddress to, ContextHandle, DeviceAddress from, ContextHandle,
                                 std::size_t bytes) {
  return copy_bytes(to, from, bytes, nullptr);
}
HONE_RECORD_API int cuMemcpyPeerAsync(DeviceAddress to, ContextHandle, DeviceAddress from,
                                      ContextHandle, std::size_t bytes, StreamHandle stream) {
  return copy_bytes(to, from, bytes, stream);
}
HONE_RECORD_API int cuMemcpy2D_v2(const Copy2D* rows) {
  return copy_rows(*rows, nullptr, "cuMemcpy2D");
}
HONE_RECORD_API int cuMemcpy2DUnaligned_v2(const Copy2D* rows) {
  return copy_rows(*rows, nullptr, "cuMemcpy2DUnaligned");
}
HONE_RECORD_API int cuMemcpy2DAsync_v2(const Copy2D* rows, StreamHandle stream) {
  return copy_rows(*rows, stream, "cuMemcpy2DAsync");
}
HONE_RECORD_API int cuMemcpy3D_v2(const Copy3D* slices) {
  return copy_slices(*slices, nullptr, "cuMemcpy3D");
}
HONE_RECORD_API int cuMemcpy3DAsync_v2(const Copy3D* slices, StreamHandle stream) {
  return copy_slices(*slices, stream, "cuMemcpy3DAsync");
}

HONE_RECORD_API int cuMemsetD8_v2(DeviceAddress to, unsigned char value, std::size_t count) {
  return fill_rows(to, 0, value, 1, count, 1, nullptr);
}
HONE_RECORD_API int cuMemsetD16_v2(DeviceAddress to, unsigned short value, std::size_t count) {
  return fill_rows(to, 0, value, 2, count, 1, nullptr);
}
HONE_RECORD_API int cuMemsetD32_v2(DeviceAddress to, unsigned value, std::size_t count) {
  return fill_rows(to, 0, value, 4, count, 1, nullptr);
}
HONE_RECORD_API int cuMemsetD8Async(DeviceAddress to, unsigned char value, std::size_t count,
                                    StreamHandle stream) {
  return fill_rows(to, 0, value, 1, count, 1, stream);
}
HONE_RECORD_API int cuMemsetD16Async(DeviceAddress to, unsigned short value, std::size_t count,
                                     StreamHandle stream) {
  return fill_rows(to, 0, value, 2, count, 1, stream);
}
HONE_RECORD_API int cuMemsetD32Async(DeviceAddress to, unsigned value, std::size_t count,
                                     StreamHandle stream) {
  return fill_rows(to, 0, value, 4, count, 1, stream);
}
HONE_RECORD_API int cuMemsetD2D8_v2(DeviceAddress to, std::size_t pitch, unsigned char value,
                                    std::size_t width, std::size_t rows) {
  return fill_rows(to, pitch, value, 1, width, rows, nullptr);
}
HONE_RECORD_API int cuMemsetD2D16_v2(DeviceAddress to, std::size_t pitch, unsigned short value,
                                     std::size_t width, std::size_t rows) {
  return fill_rows(to, pitch, value, 2, width, rows, nullptr);
}
HONE_RECORD_API int cuMemsetD2D32_v2(DeviceAddress to, std::size_t pitch, unsigned value,
                                     std::size_t width, std::size_t rows) {
  return fill_rows(to, pitch, value, 4, width, rows, nullptr);
}
HONE_RECORD_API int cuMemsetD2D8Async(DeviceAddress to, std::size_t pitch, unsigned char value,
                                      std::size_t width, std::size_t rows, StreamHandle stream) {
  return fill_rows(to, pitch, value, 1, width, rows, stream);
}
HONE_RECORD_API int cuMemsetD2D16Async(DeviceAddress to, std::size_t pitch, unsigned short value,
                                       std::size_t width, std::size_t rows, StreamHandle stream) {
  return fill_rows(to, pitch, value, 2, width, rows, stream);
}
HONE_RECORD_API int cuMemsetD2D32Async(DeviceAddress to, std::size_t pitch, unsigned value,
                                       std::size_t width, std::size_t rows, StreamHandle stream) {
  return fill_rows(to, pitch, value, 4, width, rows, stream);
}
