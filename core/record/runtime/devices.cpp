// The runtime's functions for devices, errors and entry points.
#include <cstring>

#include "record/driver/device.hpp"
#include "record/runtime/driver_calls.hpp"

namespace hone::record {
namespace {

thread_local int g_last_error = kOk;

int attribute(int id) {
  int value = 0;
  cuDeviceGetAttribute(&value, id, 0);
  return value;
}
std::size_t size_attribute(int id) { return static_cast<std::size_t>(attribute(id)); }

void set_limits(DeviceProperties& out) {
  out.shared_bytes = size_attribute(kSharedBytesDefault);
  out.shared_bytes_max = size_attribute(kSharedBytesMax);
  out.shared_bytes_reserved = size_attribute(kSharedBytesReserved);
  out.block_registers = attribute(kBlockRegisters);
  out.warp_threads = attribute(kWarpThreads);
  out.pitch_max = size_attribute(kPitchMax);
  out.block_threads = attribute(kBlockThreads);
  for (int i = 0; i < 3; ++i) {
    out.block_size[i] = attribute(kBlockX + i);
    out.grid_size[i] = attribute(kGridX + i);
  }
  out.constant_bytes = size_attribute(kConstantBytes);
  out.multiprocessors = attribute(kMultiprocessors);
  out.multiprocessor_threads = attribute(kMultiprocessorThreads);
  out.multiprocessor_shared_bytes = size_attribute(kMultiprocessorSharedBytes);
  out.multiprocessor_registers = attribute(kMultiprocessorRegisters);
  out.multiprocessor_blocks = attribute(kMultiprocessorBlocks);
  out.texture_alignment = size_attribute(kTextureAlignment);
  out.texture_pitch_alignment = size_attribute(kTexturePitchAlignment);
}

void set_memory(DeviceProperties& out) {
  cuDeviceTotalMem_v2(&out.memory_bytes, 0);
  out.memory_bus_bits = attribute(kMemoryBusBits);
  out.cache_bytes = attribute(kCacheBytes);
  out.persisting_cache_bytes = attribute(kPersistingCacheBytes);
  out.access_window_bytes = attribute(kAccessWindowBytes);
  out.can_map_host_memory = out.unified_addressing = out.registered_pointers = 1;
  out.host_register = out.memory_pools = out.managed_memory = out.concurrent_managed = 1;
}

void set_abilities(DeviceProperties& out) {
  out.major = attribute(kMajor);
  out.minor = attribute(kMinor);
  out.concurrent_kernels = out.ecc = out.stream_priorities = out.preemption = 1;
  out.global_l1 = out.local_l1 = out.cooperative = 1;
  out.pci_bus = attribute(kPciBus);
  out.async_engines = attribute(kAsyncEngines);
  out.clusters = attribute(kClusters);
  out.unified_functions = out.clusters;
}

}  // namespace

int answered(int status) {
  if (status != kOk) g_last_error = status;
  return status;
}

void need_context() {
  ContextHandle context = nullptr;
  cuCtxGetCurrent(&context);
  if (context != nullptr) return;
  cuDevicePrimaryCtxRetain(&context, 0);
  cuCtxSetCurrent(context);
}

}  // namespace hone::record

using namespace hone::record;  // NOLINT: functions of C cannot stand in a namespace

HONE_RECORD_API int cudaGetDeviceCount(int* count) { return answered(cuDeviceGetCount(count)); }
HONE_RECORD_API int cudaGetDevice(int* device) {
  *device = 0;
  return kOk;
}
HONE_RECORD_API int cudaSetDevice(int device) {
  if (device != 0) return answered(kInvalidDevice);
  need_context();
  return kOk;
}
HONE_RECORD_API int cudaInitDevice(int device, unsigned, unsigned) { return cudaSetDevice(device); }
HONE_RECORD_API int cudaSetDeviceFlags(unsigned) { return kOk; }
HONE_RECORD_API int cudaGetDeviceFlags(unsigned* flags) {
  *flags = 0;
  return kOk;
}
HONE_RECORD_API int cudaDeviceGetAttribute(int* value, int id, int device) {
  return answered(cuDeviceGetAttribute(value, id, device));
}
HONE_RECORD_API int cudaGetDeviceProperties(DeviceProperties* out, int device) {
  if (device != 0) return answered(kInvalidDevice);
  *out = {};
  cuDeviceGetName(out->name, sizeof out->name, 0);
  cuDeviceGetUuid_v2(&out->uuid, 0);
  set_limits(*out);
  set_memory(*out);
  set_abilities(*out);
  return kOk;
}
HONE_RECORD_API int cudaDriverGetVersion(int* version) {
  return answered(cuDriverGetVersion(version));
}
HONE_RECORD_API int cudaRuntimeGetVersion(int* version) {
  *version = kRuntimeVersion;
  return kOk;
}
HONE_RECORD_API int cudaDeviceSynchronize() {
  need_context();
  return answered(cuCtxSynchronize());
}
HONE_RECORD_API int cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 0;
  return kOk;
}
HONE_RECORD_API int cudaDeviceGetStreamPriorityRange(int* lowest, int* highest) {
  return answered(cuCtxGetStreamPriorityRange(lowest, highest));
}
HONE_RECORD_API int cudaDeviceGetPCIBusId(char* text, int size, int device) {
  return answered(cuDeviceGetPCIBusId(text, size, device));
}
HONE_RECORD_API int cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return answered(cuDeviceGetByPCIBusId(device, text));
}
HONE_RECORD_API int cudaDeviceGetLimit(std::size_t* value, int limit) {
  return answered(cuCtxGetLimit(value, limit));
}
HONE_RECORD_API int cudaDeviceSetLimit(int, std::size_t) { return kOk; }
HONE_RECORD_API int cudaDeviceSetCacheConfig(int) { return kOk; }
HONE_RECORD_API int cudaCtxResetPersistingL2Cache() { return kOk; }

HONE_RECORD_API int cudaGetLastError() {
  const int last = g_last_error;
  g_last_error = kOk;
  return last;
}
HONE_RECORD_API int cudaPeekAtLastError() { return g_last_error; }
HONE_RECORD_API const char* cudaGetErrorName(int status) {
  const char* name = nullptr;
  return cuGetErrorName(status, &name) == kOk ? name : "unrecognized error code";
}
HONE_RECORD_API const char* cudaGetErrorString(int status) {
  const char* text = nullptr;
  return cuGetErrorString(status, &text) == kOk ? text : "unrecognized error code";
}

HONE_RECORD_API int cudaGetDriverEntryPointByVersion(const char* name, void** function,
                                                     unsigned version, unsigned long long flags,
                                                     int* found) {
  // Rationale: the runtime reports a missing name in `found`, not in the status.
  cuGetProcAddress_v2(name, function, static_cast<int>(version), flags, found);
  return kOk;
}
HONE_RECORD_API int cudaGetDriverEntryPoint(const char* name, void** function,
                                            unsigned long long flags, int* found) {
  return cudaGetDriverEntryPointByVersion(name, function, kRuntimeVersion, flags, found);
}
HONE_RECORD_API int cudaProfilerStart() { return kOk; }
HONE_RECORD_API int cudaProfilerStop() { return kOk; }

// Every other public function exists. A call of one is the recording's problem.
#define HONE_NOT_SUPPORTED(name) \
  HONE_RECORD_API int name() { return answered(hone_record_not_supported(#name)); }
#include "record/runtime/not_supported.inc"
#undef HONE_NOT_SUPPORTED
