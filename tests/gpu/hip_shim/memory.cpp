// Device memory that processes share, and copies.
#include "shim.hpp"

namespace hone_shim {
namespace {

CUmemLocation location_of(const hipMemLocation& location) {
  return {static_cast<CUmemLocationType>(location.type), location.id};
}

CUmemAllocationProp prop_of(const hipMemAllocationProp& from) {
  CUmemAllocationProp to{};
  to.type = static_cast<CUmemAllocationType>(from.type);
  to.requestedHandleTypes = static_cast<CUmemAllocationHandleType>(from.requestedHandleTypes);
  to.location = location_of(from.location);
  to.allocFlags.compressionType = from.allocFlags.compressionType;
  to.allocFlags.gpuDirectRDMACapable = from.allocFlags.gpuDirectRDMACapable;
  to.allocFlags.usage = from.allocFlags.usage;
  return to;
}

CUmemGenericAllocationHandle handle_of(hipMemGenericAllocationHandle_t handle) {
  return reinterpret_cast<CUmemGenericAllocationHandle>(handle);
}

/// Hands out CUDA's number as the pointer that HIP has for it.
template <class Make>
hipError_t make_handle(hipMemGenericAllocationHandle_t* out, Make&& make) {
  if (out == nullptr) return hipErrorInvalidValue;
  CUmemGenericAllocationHandle handle = 0;
  const hipError_t result =
      on_device([&](const CudaDriver& driver) { return make(driver, &handle); });
  if (result == hipSuccess) *out = reinterpret_cast<hipMemGenericAllocationHandle_t>(handle);
  return result;
}

}  // namespace
}  // namespace hone_shim

using namespace hone_shim;

// NOLINTBEGIN(readability-identifier-naming): HIP's names.
hipError_t hipMemGetInfo(std::size_t* free_bytes, std::size_t* total) {
  return on_device(
      [&](const CudaDriver& driver) { return driver.cuMemGetInfo_v2(free_bytes, total); });
}

hipError_t hipMemGetAllocationGranularity(std::size_t* bytes, const hipMemAllocationProp* prop,
                                          int option) {
  if (prop == nullptr) return hipErrorInvalidValue;
  const CUmemAllocationProp wanted = prop_of(*prop);
  return on_driver([&](const CudaDriver& driver) {
    return driver.cuMemGetAllocationGranularity(
        bytes, &wanted, static_cast<CUmemAllocationGranularity_flags>(option));
  });
}

hipError_t hipMemAddressReserve(void** out, std::size_t bytes, std::size_t alignment, void* wanted,
                                unsigned long long flags) {
  return on_device([&](const CudaDriver& driver) {
    return driver.cuMemAddressReserve(reinterpret_cast<CUdeviceptr*>(out), bytes, alignment,
                                      address(wanted), flags);
  });
}

hipError_t hipMemAddressFree(void* at, std::size_t bytes) {
  return on_device(
      [&](const CudaDriver& driver) { return driver.cuMemAddressFree(address(at), bytes); });
}

hipError_t hipMemCreate(hipMemGenericAllocationHandle_t* out, std::size_t bytes,
                        const hipMemAllocationProp* prop, unsigned long long flags) {
  if (prop == nullptr) return hipErrorInvalidValue;
  const CUmemAllocationProp wanted = prop_of(*prop);
  return make_handle(out, [&](const CudaDriver& driver, CUmemGenericAllocationHandle* handle) {
    return driver.cuMemCreate(handle, bytes, &wanted, flags);
  });
}

hipError_t hipMemRelease(hipMemGenericAllocationHandle_t handle) {
  return on_device(
      [&](const CudaDriver& driver) { return driver.cuMemRelease(handle_of(handle)); });
}

hipError_t hipMemMap(void* at, std::size_t bytes, std::size_t offset,
                     hipMemGenericAllocationHandle_t handle, unsigned long long flags) {
  return on_device([&](const CudaDriver& driver) {
    return driver.cuMemMap(address(at), bytes, offset, handle_of(handle), flags);
  });
}

hipError_t hipMemUnmap(void* at, std::size_t bytes) {
  return on_device([&](const CudaDriver& driver) { return driver.cuMemUnmap(address(at), bytes); });
}

hipError_t hipMemSetAccess(void* at, std::size_t bytes, const hipMemAccessDesc* access,
                           std::size_t count) {
  if (access == nullptr || count != 1) return hipErrorInvalidValue;
  const CUmemAccessDesc wanted{location_of(access->location),
                               static_cast<CUmemAccess_flags>(access->flags)};
  return on_device([&](const CudaDriver& driver) {
    return driver.cuMemSetAccess(address(at), bytes, &wanted, count);
  });
}

hipError_t hipMemExportToShareableHandle(void* out, hipMemGenericAllocationHandle_t handle,
                                         int type, unsigned long long flags) {
  return on_device([&](const CudaDriver& driver) {
    return driver.cuMemExportToShareableHandle(out, handle_of(handle),
                                               static_cast<CUmemAllocationHandleType>(type), flags);
  });
}

hipError_t hipMemImportFromShareableHandle(hipMemGenericAllocationHandle_t* out, void* handle,
                                           int type) {
  if (handle == nullptr) return hipErrorInvalidValue;
  // As ROCm before 7.1: the descriptor's address. CUDA takes its value.
  const int fd = *static_cast<const int*>(handle);
  return make_handle(out, [&](const CudaDriver& driver, CUmemGenericAllocationHandle* made) {
    return driver.cuMemImportFromShareableHandle(
        made, reinterpret_cast<void*>(static_cast<std::uintptr_t>(fd)),
        static_cast<CUmemAllocationHandleType>(type));
  });
}

hipError_t hipMemcpyHtoD(hipDeviceptr_t to, void* from, std::size_t bytes) {
  return on_device(
      [&](const CudaDriver& driver) { return driver.cuMemcpyHtoD_v2(address(to), from, bytes); });
}

hipError_t hipMemcpyDtoH(void* to, hipDeviceptr_t from, std::size_t bytes) {
  return on_device(
      [&](const CudaDriver& driver) { return driver.cuMemcpyDtoH_v2(to, address(from), bytes); });
}

hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t to, const void* from, std::size_t bytes,
                              hipStream_t stream) {
  return on_device([&](const CudaDriver& driver) {
    return driver.cuMemcpyHtoDAsync_v2(address(to), from, bytes, stream_of(stream));
  });
}

hipError_t hipMemcpyDtoHAsync(void* to, hipDeviceptr_t from, std::size_t bytes,
                              hipStream_t stream) {
  return on_device([&](const CudaDriver& driver) {
    return driver.cuMemcpyDtoHAsync_v2(to, address(from), bytes, stream_of(stream));
  });
}

hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t to, hipDeviceptr_t from, std::size_t bytes,
                              hipStream_t stream) {
  return on_device([&](const CudaDriver& driver) {
    return driver.cuMemcpyDtoDAsync_v2(address(to), address(from), bytes, stream_of(stream));
  });
}

hipError_t hipMemcpyParam2DAsync(const hip_Memcpy2D* what, hipStream_t stream) {
  if (what == nullptr) return hipErrorInvalidValue;
  CUDA_MEMCPY2D copy{};
  copy.srcXInBytes = what->srcXInBytes;
  copy.srcY = what->srcY;
  copy.srcMemoryType = static_cast<CUmemorytype>(what->srcMemoryType);  // ROCm 6: as CUDA's
  copy.srcHost = what->srcHost;
  copy.srcDevice = address(what->srcDevice);
  copy.srcPitch = what->srcPitch;
  copy.dstXInBytes = what->dstXInBytes;
  copy.dstY = what->dstY;
  copy.dstMemoryType = static_cast<CUmemorytype>(what->dstMemoryType);
  copy.dstHost = what->dstHost;
  copy.dstDevice = address(what->dstDevice);
  copy.dstPitch = what->dstPitch;
  copy.WidthInBytes = what->WidthInBytes;
  copy.Height = what->Height;
  return on_device([&](const CudaDriver& driver) {
    return driver.cuMemcpy2DAsync_v2(&copy, stream_of(stream));
  });
}

hipError_t hipMemsetD8Async(hipDeviceptr_t at, unsigned char value, std::size_t bytes,
                            hipStream_t stream) {
  return on_device([&](const CudaDriver& driver) {
    return driver.cuMemsetD8Async(address(at), value, bytes, stream_of(stream));
  });
}

hipError_t hipMemsetD16Async(hipDeviceptr_t at, unsigned short value, std::size_t count,
                             hipStream_t stream) {
  return on_device([&](const CudaDriver& driver) {
    return driver.cuMemsetD16Async(address(at), value, count, stream_of(stream));
  });
}

hipError_t hipMemsetD32Async(hipDeviceptr_t at, int value, std::size_t count, hipStream_t stream) {
  return on_device([&](const CudaDriver& driver) {
    return driver.cuMemsetD32Async(address(at), static_cast<unsigned>(value), count,
                                   stream_of(stream));
  });
}

hipError_t hipMemAllocHost(void** out, std::size_t bytes) {
  return on_device([&](const CudaDriver& driver) { return driver.cuMemAllocHost_v2(out, bytes); });
}

hipError_t hipHostMalloc(void** out, std::size_t bytes, unsigned) {
  return hipMemAllocHost(out, bytes);
}

hipError_t hipHostFree(void* memory) {
  if (memory == nullptr) return hipSuccess;
  return on_device([&](const CudaDriver& driver) { return driver.cuMemFreeHost(memory); });
}
// NOLINTEND(readability-identifier-naming)
