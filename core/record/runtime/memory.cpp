// Replacements of libcudart's memory functions. Each calls the recording driver's function for the same work.
#include <algorithm>

#include "record/runtime/driver_calls.hpp"

namespace {

using namespace hone::record;  // NOLINT: functions of C cannot stand in a namespace

DeviceAddress address_of(const void* pointer) { return reinterpret_cast<DeviceAddress>(pointer); }

}  // namespace

HONE_RECORD_API int cudaMalloc(void** out, std::size_t bytes) {
  need_context();
  *out = nullptr;
  if (bytes == 0) return kOk;
  DeviceAddress address = 0;
  const int status = cuMemAlloc_v2(&address, bytes);
  *out = reinterpret_cast<void*>(address);
  return answered(status);
}
HONE_RECORD_API int cudaMallocAsync(void** out, std::size_t bytes, StreamHandle) {
  return cudaMalloc(out, bytes);
}
HONE_RECORD_API int cudaMallocFromPoolAsync(void** out, std::size_t bytes, void*, StreamHandle) {
  return cudaMalloc(out, bytes);
}
HONE_RECORD_API int cudaMallocPitch(void** out, std::size_t* pitch, std::size_t width,
                                    std::size_t height) {
  need_context();
  DeviceAddress address = 0;
  const int status = cuMemAllocPitch_v2(&address, pitch, width, height, 0);
  *out = reinterpret_cast<void*>(address);
  return answered(status);
}
HONE_RECORD_API int cudaFree(void* memory) {
  need_context();
  return answered(cuMemFree_v2(address_of(memory)));
}
HONE_RECORD_API int cudaFreeAsync(void* memory, StreamHandle) { return cudaFree(memory); }
HONE_RECORD_API int cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  need_context();
  return answered(cuMemGetInfo_v2(free_bytes, total_bytes));
}

HONE_RECORD_API int cudaHostAlloc(void** out, std::size_t bytes, unsigned flags) {
  need_context();
  return answered(cuMemHostAlloc(out, bytes, flags));
}
HONE_RECORD_API int cudaMallocHost(void** out, std::size_t bytes) {
  return cudaHostAlloc(out, bytes, 0);
}
HONE_RECORD_API int cudaFreeHost(void* host) {
  return host == nullptr ? kOk : answered(cuMemFreeHost(host));
}
HONE_RECORD_API int cudaHostRegister(void* host, std::size_t bytes, unsigned flags) {
  return answered(cuMemHostRegister_v2(host, bytes, flags));
}
HONE_RECORD_API int cudaHostUnregister(void* host) { return answered(cuMemHostUnregister(host)); }
HONE_RECORD_API int cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  *device = host;
  return kOk;
}
HONE_RECORD_API int cudaHostGetFlags(unsigned* flags, void* host) {
  return answered(cuMemHostGetFlags(flags, host));
}

HONE_RECORD_API int cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int,
                                    StreamHandle stream) {
  need_context();
  return answered(cuMemcpyAsync(address_of(to), address_of(from), bytes, stream));
}
HONE_RECORD_API int cudaMemcpy(void* to, const void* from, std::size_t bytes, int kind) {
  return cudaMemcpyAsync(to, from, bytes, kind, nullptr);
}
HONE_RECORD_API int cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t bytes,
                                        StreamHandle stream) {
  return cudaMemcpyAsync(to, from, bytes, 0, stream);
}
HONE_RECORD_API int cudaMemcpyPeer(void* to, int, const void* from, int, std::size_t bytes) {
  return cudaMemcpyAsync(to, from, bytes, 0, nullptr);
}
HONE_RECORD_API int cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                                      std::size_t from_pitch, std::size_t width, std::size_t height,
                                      int, StreamHandle stream) {
  need_context();
  Copy2D rows{};
  rows.from.type = rows.to.type = kMemoryUnified;
  rows.from.device = address_of(from);
  rows.from.pitch = from_pitch;
  rows.to.device = address_of(to);
  rows.to.pitch = to_pitch;
  rows.width_bytes = width;
  rows.height = height;
  return answered(cuMemcpy2DAsync_v2(&rows, stream));
}
HONE_RECORD_API int cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from,
                                 std::size_t from_pitch, std::size_t width, std::size_t height,
                                 int kind) {
  return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, nullptr);
}
HONE_RECORD_API int cudaMemsetAsync(void* to, int value, std::size_t bytes, StreamHandle stream) {
  need_context();
  return answered(
      cuMemsetD8Async(address_of(to), static_cast<unsigned char>(value), bytes, stream));
}
HONE_RECORD_API int cudaMemset(void* to, int value, std::size_t bytes) {
  return cudaMemsetAsync(to, value, bytes, nullptr);
}
HONE_RECORD_API int cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width,
                                      std::size_t height, StreamHandle stream) {
  need_context();
  return answered(cuMemsetD2D8Async(address_of(to), pitch, static_cast<unsigned char>(value), width,
                                    height, stream));
}
HONE_RECORD_API int cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width,
                                 std::size_t height) {
  return cudaMemset2DAsync(to, pitch, value, width, height, nullptr);
}

HONE_RECORD_API int cudaPointerGetAttributes(PointerAttributes* out, const void* pointer) {
  need_context();
  constexpr int kUnregistered = 0, kHost = 1, kDevice = 2;
  unsigned type = 0;
  cuPointerGetAttribute(&type, kPointerMemoryType, address_of(pointer));
  void* const address = const_cast<void*>(pointer);
  *out = {};
  out->type = type == kMemoryDevice ? kDevice : type == kMemoryHost ? kHost : kUnregistered;
  out->device = out->type == kUnregistered ? -2 : 0;
  if (out->type != kUnregistered) out->device_pointer = address;
  if (out->type != kDevice) out->host_pointer = address;
  return kOk;
}

HONE_RECORD_API int cudaDeviceGetDefaultMemPool(void** pool, int device) {
  return answered(cuDeviceGetDefaultMemPool(pool, device));
}
HONE_RECORD_API int cudaDeviceGetMemPool(void** pool, int device) {
  return cudaDeviceGetDefaultMemPool(pool, device);
}
HONE_RECORD_API int cudaMemPoolGetAttribute(void* pool, int attribute, void* value) {
  return answered(cuMemPoolGetAttribute(pool, attribute, value));
}
HONE_RECORD_API int cudaMemPoolSetAttribute(void*, int, void*) { return kOk; }
HONE_RECORD_API int cudaMemPoolSetAccess(void*, const void*, std::size_t) { return kOk; }
HONE_RECORD_API int cudaMemPoolTrimTo(void*, std::size_t) { return kOk; }
