// Device memory as memory files at reserved addresses, which processes can share, and copies.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "driver.hpp"

namespace hone_emulated {
namespace {

constexpr std::uint64_t kGapBytes = 64 << 20;  // after each reservation

char* pointer(CUdeviceptr at) { return reinterpret_cast<char*>(at); }

void drop(Memory& memory, CUmemGenericAllocationHandle handle) {
  const auto found = memory.allocations.find(handle);
  if (--found->second.users > 0) return;
  if (found->second.fd >= 0) close(found->second.fd);
  if (found->second.own) {
    memory.used -= found->second.bytes;
    note_used(memory.used);
  }
  memory.allocations.erase(found);
}

/// The mappings that fill [at, at + bytes) exactly; empty where they do not.
std::vector<std::map<CUdeviceptr, Mapping>::iterator> filling(Memory& memory, CUdeviceptr at,
                                                              std::uint64_t bytes) {
  std::vector<std::map<CUdeviceptr, Mapping>::iterator> found;
  const CUdeviceptr end = at + bytes;
  while (at < end) {
    const auto one = memory.mappings.find(at);
    if (one == memory.mappings.end() || one->second.bytes > end - at) return {};
    found.push_back(one);
    at += one->second.bytes;
  }
  return found;
}

int protection(CUmemAccess_flags access) {
  switch (access) {
    case CU_MEM_ACCESS_FLAGS_PROT_READ:
      return PROT_READ;
    case CU_MEM_ACCESS_FLAGS_PROT_READWRITE:
      return PROT_READ | PROT_WRITE;
    default:
      return PROT_NONE;
  }
}

bool in_reservation(const Memory& memory, CUdeviceptr at, std::uint64_t bytes) {
  auto after = memory.reservations.upper_bound(at);
  if (after == memory.reservations.begin()) return false;
  const auto& [base, reservation] = *std::prev(after);
  return at - base <= reservation.bytes && bytes <= reservation.bytes - (at - base);
}

}  // namespace

bool Memory::holds(CUdeviceptr at, std::uint64_t bytes, bool write) const {
  const CUdeviceptr end = at + bytes;
  if (end < at) return false;
  if (const auto after = globals.upper_bound(at); after != globals.begin()) {
    const auto& [base, size] = *std::prev(after);
    if (end <= base + size) return true;
  }
  do {
    auto after = mappings.upper_bound(at);
    if (after == mappings.begin()) return false;
    const auto& [base, mapping] = *std::prev(after);
    if (at - base >= mapping.bytes) return false;
    const int needed = write ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_READ;
    if ((mapping.access & needed) != needed) return false;
    at = base + mapping.bytes;
  } while (at < end);
  return true;
}

}  // namespace hone_emulated

using namespace hone_emulated;

// NOLINTBEGIN(readability-identifier-naming): the driver's names.
HONE_EMULATED_API CUresult cuMemGetInfo_v2(std::size_t* free_bytes, std::size_t* total) {
  const std::lock_guard lock(driver().mutex);
  if (const CUresult result = ready(); result != CUDA_SUCCESS) return result;
  const std::uint64_t used = driver().memory.used + used_by_others();
  if (free_bytes != nullptr) *free_bytes = memory_bytes() - std::min(memory_bytes(), used);
  if (total != nullptr) *total = memory_bytes();
  return CUDA_SUCCESS;
}

HONE_EMULATED_API CUresult cuMemGetAllocationGranularity(std::size_t* bytes,
                                                         const CUmemAllocationProp* prop,
                                                         CUmemAllocationGranularity_flags) {
  if (bytes == nullptr || prop == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *bytes = kGranularity;
  return CUDA_SUCCESS;
}

HONE_EMULATED_API CUresult cuMemAddressReserve(CUdeviceptr* out, std::size_t bytes,
                                               std::size_t alignment, CUdeviceptr,
                                               unsigned long long flags) {
  const std::lock_guard lock(driver().mutex);
  if (const CUresult result = ready(); result != CUDA_SUCCESS) return result;
  if (out == nullptr || bytes == 0 || bytes % kGranularity != 0 || flags != 0 ||
      (alignment & (alignment - 1)) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (alignment < kGranularity) alignment = kGranularity;
  const std::uint64_t outer_bytes = bytes + alignment + 2 * kGapBytes;
  void* outer =
      mmap(nullptr, outer_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (outer == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  const CUdeviceptr first = reinterpret_cast<CUdeviceptr>(outer) + kGapBytes;
  *out = (first + alignment - 1) / alignment * alignment;
  driver().memory.reservations[*out] = {bytes, outer, outer_bytes};
  return CUDA_SUCCESS;
}

HONE_EMULATED_API CUresult cuMemAddressFree(CUdeviceptr at, std::size_t bytes) {
  const std::lock_guard lock(driver().mutex);
  if (const CUresult result = ready(true); result != CUDA_SUCCESS) return result;
  auto& reservations = driver().memory.reservations;
  const auto found = reservations.find(at);
  if (found == reservations.end() || found->second.bytes != bytes) return CUDA_ERROR_INVALID_VALUE;
  munmap(found->second.outer, found->second.outer_bytes);
  reservations.erase(found);
  return CUDA_SUCCESS;
}

HONE_EMULATED_API CUresult cuMemCreate(CUmemGenericAllocationHandle* out, std::size_t bytes,
                                       const CUmemAllocationProp* prop, unsigned long long flags) {
  const std::lock_guard lock(driver().mutex);
  if (const CUresult result = ready(); result != CUDA_SUCCESS) return result;
  if (out == nullptr || prop == nullptr || flags != 0 || bytes == 0 || bytes % kGranularity != 0 ||
      prop->type != CU_MEM_ALLOCATION_TYPE_PINNED ||
      prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE || prop->location.id != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (has_lost_contexts()) return CUDA_ERROR_ILLEGAL_ADDRESS;
  Memory& memory = driver().memory;
  if (is_to_fail() || memory.used + used_by_others() + bytes > memory_bytes())
    return CUDA_ERROR_OUT_OF_MEMORY;
  int fd =
      -1;  // memory for this process alone has no file, because a sealed process cannot size one
  if (prop->requestedHandleTypes != 0) {
    fd = memfd_create("hone-emulated-memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) return CUDA_ERROR_OPERATING_SYSTEM;
    // Sealed: a process that it is passed to cannot take pages from under the others.
    if (ftruncate(fd, static_cast<off_t>(bytes)) != 0 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
      close(fd);
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
  }
  memory.used += bytes;
  note_used(memory.used);
  *out = memory.next_handle++;
  memory.allocations[*out] = {fd, bytes, 1, true};
  return CUDA_SUCCESS;
}

HONE_EMULATED_API CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  const std::lock_guard lock(driver().mutex);
  if (const CUresult result = ready(true); result != CUDA_SUCCESS) return result;
  if (!driver().memory.allocations.contains(handle)) return CUDA_ERROR_INVALID_VALUE;
  drop(driver().memory, handle);
  return CUDA_SUCCESS;
}

HONE_EMULATED_API CUresult cuMemMap(CUdeviceptr at, std::size_t bytes, std::size_t offset,
                                    CUmemGenericAllocationHandle handle, unsigned long long flags) {
  const std::lock_guard lock(driver().mutex);
  if (const CUresult result = ready(); result != CUDA_SUCCESS) return result;
  Memory& memory = driver().memory;
  const auto found = memory.allocations.find(handle);
  if (found == memory.allocations.end() || flags != 0 || bytes == 0 || bytes % kGranularity != 0 ||
      at % kGranularity != 0 || offset % kGranularity != 0 || offset > found->second.bytes ||
      bytes > found->second.bytes - offset || !in_reservation(memory, at, bytes)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const auto after = memory.mappings.lower_bound(at);
  if ((after != memory.mappings.end() && after->first - at < bytes) ||
      (after != memory.mappings.begin() &&
       at - std::prev(after)->first < std::prev(after)->second.bytes)) {
    return CUDA_ERROR_INVALID_VALUE;  // mapped already
  }
  const int fd = found->second.fd;
  const int kind = fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
  if (mmap(pointer(at), bytes, PROT_NONE, kind | MAP_FIXED, fd, static_cast<off_t>(offset)) ==
      MAP_FAILED) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  ++found->second.users;
  memory.mappings[at] = {bytes, handle, CU_MEM_ACCESS_FLAGS_PROT_NONE};
  return CUDA_SUCCESS;
}

HONE_EMULATED_API CUresult cuMemUnmap(CUdeviceptr at, std::size_t bytes) {
  const std::lock_guard lock(driver().mutex);
  if (const CUresult result = ready(true); result != CUDA_SUCCESS) return result;
  Memory& memory = driver().memory;
  const auto all = filling(memory, at, bytes);
  if (all.empty()) return CUDA_ERROR_INVALID_VALUE;
  mmap(pointer(at), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
       0);
  for (const auto& one : all) {
    drop(memory, one->second.allocation);
    memory.mappings.erase(one);
  }
  return CUDA_SUCCESS;
}

HONE_EMULATED_API CUresult cuMemSetAccess(CUdeviceptr at, std::size_t bytes,
                                          const CUmemAccessDesc* access, std::size_t count) {
  const std::lock_guard lock(driver().mutex);
  if (const CUresult result = ready(); result != CUDA_SUCCESS) return result;
  if (access == nullptr || count != 1 || access->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
      access->location.id != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const auto all = filling(driver().memory, at, bytes);
  if (all.empty()) return CUDA_ERROR_INVALID_VALUE;
  if (mprotect(pointer(at), bytes, protection(access->flags)) != 0)
    return CUDA_ERROR_OPERATING_SYSTEM;
  for (const auto& one : all) one->second.access = access->flags;
  return CUDA_SUCCESS;
}

HONE_EMULATED_API CUresult cuMemExportToShareableHandle(void* out,
                                                        CUmemGenericAllocationHandle handle,
                                                        CUmemAllocationHandleType type,
                                                        unsigned long long flags) {
  const std::lock_guard lock(driver().mutex);
  if (const CUresult result = ready(); result != CUDA_SUCCESS) return result;
  const auto found = driver().memory.allocations.find(handle);
  if (out == nullptr || flags != 0 || found == driver().memory.allocations.end() ||
      type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const int fd = fcntl(found->second.fd, F_DUPFD_CLOEXEC, 3);
  if (fd < 0) return CUDA_ERROR_OPERATING_SYSTEM;
  *static_cast<int*>(out) = fd;
  return CUDA_SUCCESS;
}

HONE_EMULATED_API CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* out,
                                                          void* handle,
                                                          CUmemAllocationHandleType type) {
  const std::lock_guard lock(driver().mutex);
  if (const CUresult result = ready(); result != CUDA_SUCCESS) return result;
  if (out == nullptr || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
    return CUDA_ERROR_INVALID_VALUE;
  const auto given = static_cast<int>(reinterpret_cast<std::intptr_t>(handle));
  struct stat status {};
  if (fstat(given, &status) != 0 || status.st_size <= 0 ||
      static_cast<std::uint64_t>(status.st_size) % kGranularity != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const int fd = fcntl(given, F_DUPFD_CLOEXEC, 3);
  if (fd < 0) return CUDA_ERROR_OPERATING_SYSTEM;
  Memory& memory = driver().memory;
  *out = memory.next_handle++;
  memory.allocations[*out] = {fd, static_cast<std::uint64_t>(status.st_size), 1, false};
  return CUDA_SUCCESS;
}

/// An allocation with addresses of its own.
HONE_EMULATED_API CUresult cuMemAlloc_v2(CUdeviceptr* out, std::size_t bytes) {
  if (out == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  const std::size_t mapped = (bytes + kGranularity - 1) / kGranularity * kGranularity;
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemGenericAllocationHandle handle = 0;
  if (const CUresult made = cuMemCreate(&handle, mapped, &prop, 0); made != CUDA_SUCCESS)
    return made;
  CUresult result = cuMemAddressReserve(out, mapped, 0, 0, 0);
  if (result == CUDA_SUCCESS) {
    const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                 CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    result = cuMemMap(*out, mapped, 0, handle, 0);
    if (result == CUDA_SUCCESS) result = cuMemSetAccess(*out, mapped, &access, 1);
  }
  cuMemRelease(handle);  // the mapping keeps it
  return result;
}

HONE_EMULATED_API CUresult cuMemFree_v2(CUdeviceptr at) {
  std::uint64_t mapped = 0;
  {
    const std::lock_guard lock(driver().mutex);
    const auto found = driver().memory.reservations.find(at);
    if (found == driver().memory.reservations.end()) return CUDA_ERROR_INVALID_VALUE;
    mapped = found->second.bytes;
  }
  const CUresult unmapped = cuMemUnmap(at, mapped);
  return unmapped == CUDA_SUCCESS ? cuMemAddressFree(at, mapped) : unmapped;
}

HONE_EMULATED_API CUresult cuMemAllocHost_v2(void** out, std::size_t bytes) {
  const std::lock_guard lock(driver().mutex);
  if (const CUresult result = ready(); result != CUDA_SUCCESS) return result;
  if (out == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  driver().memory.host[memory] = bytes;
  *out = memory;
  return CUDA_SUCCESS;
}

HONE_EMULATED_API CUresult cuMemFreeHost(void* memory) {
  const std::lock_guard lock(driver().mutex);
  if (const CUresult result = ready(true); result != CUDA_SUCCESS) return result;
  const auto found = driver().memory.host.find(memory);
  if (found == driver().memory.host.end()) return CUDA_ERROR_INVALID_VALUE;
  munmap(memory, found->second);
  driver().memory.host.erase(found);
  return CUDA_SUCCESS;
}
// NOLINTEND(readability-identifier-naming)
