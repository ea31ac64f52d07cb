// Memory: allocation, page-locked host memory, and attributes of pointers.
#include <cstdlib>
#include <cstring>

#include "record/driver/api.hpp"

namespace {

using namespace hone::record;  // NOLINT: functions of C cannot stand in a namespace

constexpr std::size_t kPage = 4096, kPitchUnit = 512;
/// Device memory that a context and code take on a real device.
constexpr std::uint64_t kDriverBytes = std::uint64_t{512} << 20;

char g_pool;

int allocate(DeviceAddress* address, std::size_t bytes) {
  return guarded([&](Recording& r) -> int {
    if (bytes == 0) return kInvalidValue;
    if (bytes > r.device.memory_bytes || r.memories.live_bytes() > r.device.memory_bytes - bytes)
      return kOutOfMemory;
    MemoryState memory;
    memory.bytes = bytes;
    memory.run = r.is_in_run() ? r.run_number() : 0;
    const auto id = r.memories.add(std::move(memory));
    if (!id) {
      r.fail("allocates memory too often");
      return kOutOfMemory;
    }
    *address = r.memories.at(*id).address;
    clear_stack();  // a launch is likely to follow
    return kOk;
  });
}

int release(DeviceAddress address) {
  if (address == 0) return kOk;
  return guarded([&](Recording& r) { return r.memories.free(address) ? kOk : kInvalidValue; });
}

template <typename T>
int put(void* out, T value) {
  std::memcpy(out, &value, sizeof value);
  return kOk;
}

/// The memory that a pointer points to.
struct Region {
  bool is_device = false, is_host = false;
  std::uint64_t start = 0, bytes = 0;
  MemoryId id = 0;
};

Region region_of(const Recording& r, std::uint64_t address) {
  Region region;
  if (const auto id = r.memories.holding(address)) {
    const MemoryState& memory = r.memories.at(*id);
    return {true, false, memory.address, memory.bytes, *id};
  }
  region.is_host = r.memories.host_holding(address).has_value();
  return region;
}

int attribute_of(const Region& region, void* out, int attribute, std::uint64_t address) {
  const bool is_known = region.is_device || region.is_host;
  switch (attribute) {
    case kPointerContext:
      put<const void*>(out, is_known ? the_context() : nullptr);
      return is_known ? kOk : kInvalidValue;
    case kPointerMemoryType:
      put<unsigned>(out, region.is_device ? kMemoryDevice : region.is_host ? kMemoryHost : 0);
      return is_known ? kOk : kInvalidValue;
    case kPointerDeviceAddress:
      put<std::uint64_t>(out, is_known ? address : 0);
      return is_known ? kOk : kInvalidValue;
    case kPointerHostAddress:
      put<std::uint64_t>(out, region.is_host ? address : 0);
      return region.is_host ? kOk : kInvalidValue;
    case kPointerSyncMemops:
      return put<int>(out, 1);
    case kPointerBufferId:
      return put<unsigned long long>(out, region.id + 1);
    case kPointerIsManaged:
      return put<unsigned>(out, 0);
    case kPointerDeviceOrdinal:
      return put<int>(out, is_known ? 0 : -2);
    case kPointerRangeStart:
      return put<std::uint64_t>(out, region.start);
    case kPointerRangeSize:
      return put<std::size_t>(out, region.bytes);
    case kPointerMapped:
      return put<int>(out, is_known ? 1 : 0);
    case kPointerAccessFlags:
      return put<int>(out, 3);  // reads and writes
    default:
      return put<int>(out, 0);
  }
}

}  // namespace

HONE_RECORD_API int cuMemAlloc_v2(DeviceAddress* address, std::size_t bytes) {
  return allocate(address, bytes);
}
HONE_RECORD_API int cuMemAllocPitch_v2(DeviceAddress* address, std::size_t* pitch,
                                       std::size_t width, std::size_t height, unsigned) {
  if (width == 0 || height == 0 || width > (std::size_t{1} << 40)) return kInvalidValue;
  *pitch = (width + kPitchUnit - 1) / kPitchUnit * kPitchUnit;
  if (height > (std::size_t{1} << 62) / *pitch) return kOutOfMemory;
  return allocate(address, *pitch * height);
}
HONE_RECORD_API int cuMemAllocAsync(DeviceAddress* address, std::size_t bytes, StreamHandle) {
  return allocate(address, bytes);
}
HONE_RECORD_API int cuMemAllocFromPoolAsync(DeviceAddress* address, std::size_t bytes, void*,
                                            StreamHandle) {
  return allocate(address, bytes);
}
HONE_RECORD_API int cuMemFree_v2(DeviceAddress address) { return release(address); }
HONE_RECORD_API int cuMemFreeAsync(DeviceAddress address, StreamHandle) { return release(address); }
HONE_RECORD_API int cuMemGetInfo_v2(std::size_t* free_bytes, std::size_t* total_bytes) {
  return guarded([&](Recording& r) {
    const std::uint64_t total = r.device.memory_bytes;
    const std::uint64_t used = r.memories.live_bytes() + kDriverBytes;
    *total_bytes = total;
    *free_bytes = used < total ? total - used : 0;
    return kOk;
  });
}
HONE_RECORD_API int cuMemGetAddressRange_v2(DeviceAddress* start, std::size_t* bytes,
                                            DeviceAddress address) {
  return guarded([&](Recording& r) {
    const Region region = region_of(r, address);
    if (!region.is_device) return kNotFound;
    if (start != nullptr) *start = region.start;
    if (bytes != nullptr) *bytes = region.bytes;
    return kOk;
  });
}

HONE_RECORD_API int cuMemHostAlloc(void** out, std::size_t bytes, unsigned) {
  return guarded([&](Recording& r) -> int {
    if (bytes == 0) return kInvalidValue;
    if (::posix_memalign(out, kPage, bytes) != 0) return kOutOfMemory;
    r.memories.add_host(reinterpret_cast<std::uint64_t>(*out), bytes);
    return kOk;
  });
}
HONE_RECORD_API int cuMemAllocHost_v2(void** out, std::size_t bytes) {
  return cuMemHostAlloc(out, bytes, 0);
}
HONE_RECORD_API int cuMemFreeHost(void* host) {
  return guarded([&](Recording& r) {
    if (!r.memories.remove_host(reinterpret_cast<std::uint64_t>(host))) return kInvalidValue;
    std::free(host);
    return kOk;
  });
}
HONE_RECORD_API int cuMemHostRegister_v2(void* host, std::size_t bytes, unsigned) {
  return guarded([&](Recording& r) {
    r.memories.add_host(reinterpret_cast<std::uint64_t>(host), bytes);
    return kOk;
  });
}
HONE_RECORD_API int cuMemHostUnregister(void* host) {
  return guarded([&](Recording& r) {
    return r.memories.remove_host(reinterpret_cast<std::uint64_t>(host)) ? kOk : kInvalidValue;
  });
}
HONE_RECORD_API int cuMemHostGetDevicePointer_v2(DeviceAddress* address, void* host, unsigned) {
  *address = reinterpret_cast<DeviceAddress>(host);
  return kOk;
}
HONE_RECORD_API int cuMemHostGetFlags(unsigned* flags, void*) {
  *flags = 0;
  return kOk;
}

HONE_RECORD_API int cuPointerGetAttribute(void* out, int attribute, DeviceAddress address) {
  return guarded(
      [&](Recording& r) { return attribute_of(region_of(r, address), out, attribute, address); });
}
HONE_RECORD_API int cuPointerGetAttributes(unsigned count, int* attributes, void** out,
                                           DeviceAddress address) {
  return guarded([&](Recording& r) {
    const Region region = region_of(r, address);
    for (unsigned i = 0; i < count; ++i) attribute_of(region, out[i], attributes[i], address);
    return kOk;
  });
}
HONE_RECORD_API int cuPointerSetAttribute(const void*, int, DeviceAddress) { return kOk; }

// All pools are one, because a recording does not distinguish them.
HONE_RECORD_API int cuDeviceGetDefaultMemPool(void** pool, int) {
  *pool = &g_pool;
  return kOk;
}
HONE_RECORD_API int cuDeviceGetMemPool(void** pool, int device) {
  return cuDeviceGetDefaultMemPool(pool, device);
}
HONE_RECORD_API int cuDeviceSetMemPool(int, void*) { return kOk; }
HONE_RECORD_API int cuMemPoolCreate(void** pool, const void*) {
  return cuDeviceGetDefaultMemPool(pool, 0);
}
HONE_RECORD_API int cuMemPoolDestroy(void*) { return kOk; }
HONE_RECORD_API int cuMemPoolSetAttribute(void*, int, void*) { return kOk; }
HONE_RECORD_API int cuMemPoolGetAttribute(void*, int attribute, void* value) {
  constexpr int kLastFlag = 3;  // the attributes up to this one are 32 bits wide
  return attribute <= kLastFlag ? put<int>(value, 0) : put<std::uint64_t>(value, 0);
}
HONE_RECORD_API int cuMemPoolSetAccess(void*, const void*, std::size_t) { return kOk; }
HONE_RECORD_API int cuMemPoolTrimTo(void*, std::size_t) { return kOk; }
