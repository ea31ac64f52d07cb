// Devices and contexts: one device, and one context of it.
#include <algorithm>
#include <cstring>
#include <vector>

#include "record/driver/api.hpp"

namespace {

using namespace hone::record;  // NOLINT: functions of C cannot stand in a namespace

constexpr char kPciAddress[] = "0000:04:00.0";
constexpr unsigned kApiVersion = 3020;
constexpr int kLowestPriority = 0, kHighestPriority = -5;

bool g_context_is_active = false;
thread_local std::vector<ContextHandle> g_current;

void put_text(char* out, int size, const std::string& text) {
  if (size <= 0) return;
  const std::size_t count = std::min(text.size(), static_cast<std::size_t>(size) - 1);
  std::memcpy(out, text.data(), count);
  out[count] = '\0';
}

enum Limit : int { kLimitStack = 0, kLimitPrintf = 1, kLimitHeap = 2 };

}  // namespace

HONE_RECORD_API int cuInit(unsigned) { return kOk; }
HONE_RECORD_API int cuDriverGetVersion(int* version) {
  *version = kDriverVersion;
  return kOk;
}
HONE_RECORD_API int cuDeviceGetCount(int* count) {
  *count = 1;
  return kOk;
}
HONE_RECORD_API int cuDeviceGet(int* device, int ordinal) {
  if (ordinal != 0) return kInvalidDevice;
  *device = 0;
  return kOk;
}
HONE_RECORD_API int cuDeviceGetName(char* name, int size, int) {
  return guarded([&](Recording& r) {
    put_text(name, size, r.device.name);
    return kOk;
  });
}
HONE_RECORD_API int cuDeviceGetUuid_v2(Uuid* uuid, int) {
  for (std::size_t i = 0; i < sizeof uuid->bytes; ++i) uuid->bytes[i] = static_cast<char>(i + 1);
  return kOk;
}
HONE_RECORD_API int cuDeviceGetUuid(Uuid* uuid, int device) {
  return cuDeviceGetUuid_v2(uuid, device);
}
HONE_RECORD_API int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  return guarded([&](Recording& r) {
    *bytes = r.device.memory_bytes;
    return kOk;
  });
}
HONE_RECORD_API int cuDeviceGetAttribute(int* value, int attribute, int) {
  return guarded([&](Recording& r) {
    *value = r.device.attribute(attribute);
    return kOk;
  });
}
HONE_RECORD_API int cuDeviceComputeCapability(int* major, int* minor, int device) {
  cuDeviceGetAttribute(major, kMajor, device);
  return cuDeviceGetAttribute(minor, kMinor, device);
}
HONE_RECORD_API int cuDeviceGetPCIBusId(char* text, int size, int) {
  put_text(text, size, kPciAddress);
  return kOk;
}
HONE_RECORD_API int cuDeviceGetByPCIBusId(int* device, const char* text) {
  if (std::strcmp(text, kPciAddress) != 0) return kInvalidDevice;
  *device = 0;
  return kOk;
}
HONE_RECORD_API int cuDeviceCanAccessPeer(int* can, int, int) {
  *can = 0;
  return kOk;
}

HONE_RECORD_API int cuDevicePrimaryCtxRetain(ContextHandle* context, int device) {
  if (device != 0) return kInvalidDevice;
  return guarded([&](Recording&) {
    g_context_is_active = true;
    *context = the_context();
    return kOk;
  });
}
HONE_RECORD_API int cuDevicePrimaryCtxRelease_v2(int) { return kOk; }
HONE_RECORD_API int cuDevicePrimaryCtxSetFlags_v2(int, unsigned) { return kOk; }
HONE_RECORD_API int cuDevicePrimaryCtxGetState(int, unsigned* flags, int* active) {
  return guarded([&](Recording&) {
    *flags = 0;
    *active = g_context_is_active ? 1 : 0;
    return kOk;
  });
}
HONE_RECORD_API int cuCtxGetCurrent(ContextHandle* context) {
  *context = g_current.empty() ? nullptr : g_current.back();
  return kOk;
}
HONE_RECORD_API int cuCtxSetCurrent(ContextHandle context) {
  if (!g_current.empty()) g_current.pop_back();
  if (context != nullptr) g_current.push_back(context);
  return kOk;
}
HONE_RECORD_API int cuCtxPushCurrent_v2(ContextHandle context) {
  g_current.push_back(context);
  return kOk;
}
HONE_RECORD_API int cuCtxPopCurrent_v2(ContextHandle* context) {
  if (g_current.empty()) return kInvalidContext;
  if (context != nullptr) *context = g_current.back();
  g_current.pop_back();
  return kOk;
}
HONE_RECORD_API int cuCtxGetDevice(int* device) {
  if (g_current.empty()) return kInvalidContext;
  *device = 0;
  return kOk;
}
HONE_RECORD_API int cuCtxGetDevice_v2(int* device, ContextHandle context) {
  if (context == nullptr) return cuCtxGetDevice(device);
  *device = 0;
  return kOk;
}
HONE_RECORD_API int cuCtxGetId(ContextHandle, unsigned long long* id) {
  *id = 1;
  return kOk;
}
HONE_RECORD_API int cuCtxGetApiVersion(ContextHandle, unsigned* version) {
  *version = kApiVersion;
  return kOk;
}
HONE_RECORD_API int cuCtxGetFlags(unsigned* flags) {
  *flags = 0;
  return kOk;
}
HONE_RECORD_API int cuCtxSetFlags(unsigned) { return kOk; }
HONE_RECORD_API int cuCtxSynchronize() {
  return guarded([](Recording& r) {
    r.synchronize();
    return kOk;
  });
}
HONE_RECORD_API int cuCtxSynchronize_v2(ContextHandle) { return cuCtxSynchronize(); }
HONE_RECORD_API int cuCtxGetStreamPriorityRange(int* lowest, int* highest) {
  if (lowest != nullptr) *lowest = kLowestPriority;
  if (highest != nullptr) *highest = kHighestPriority;
  return kOk;
}
HONE_RECORD_API int cuCtxGetLimit(std::size_t* value, int limit) {
  *value = limit == kLimitStack    ? 1024
           : limit == kLimitPrintf ? std::size_t{1} << 20
           : limit == kLimitHeap   ? std::size_t{8} << 20
                                   : 0;
  return kOk;
}
HONE_RECORD_API int cuCtxSetLimit(int, std::size_t) { return kOk; }
HONE_RECORD_API int cuCtxGetCacheConfig(int* preference) {
  *preference = 0;
  return kOk;
}
HONE_RECORD_API int cuCtxSetCacheConfig(int) { return kOk; }
HONE_RECORD_API int cuCtxResetPersistingL2Cache() { return kOk; }
HONE_RECORD_API int cuModuleGetLoadingMode(int* mode) {
  constexpr int kLazy = 2;
  *mode = kLazy;
  return kOk;
}
HONE_RECORD_API int cuProfilerStart() { return kOk; }
HONE_RECORD_API int cuProfilerStop() { return kOk; }
