// The driver's functions that the runtime calls, and helpers that the runtime's files share.
#pragma once

#include <cstddef>
#include <cstdint>

#include "record/runtime/types.hpp"

/// A function that programs find by its name.
#define HONE_RECORD_API extern "C" __attribute__((visibility("default")))

extern "C" {
int cuCtxGetCurrent(void**);
int cuCtxGetDevice(int*);
int cuCtxGetLimit(std::size_t*, int);
int cuCtxGetStreamPriorityRange(int*, int*);
int cuCtxSetCurrent(void*);
int cuCtxSynchronize();
int cuDeviceGetAttribute(int*, int, int);
int cuDeviceGetByPCIBusId(int*, const char*);
int cuDeviceGetCount(int*);
int cuDeviceGetDefaultMemPool(void**, int);
int cuDeviceGetName(char*, int, int);
int cuDeviceGetPCIBusId(char*, int, int);
int cuDeviceGetUuid_v2(hone::record::Uuid*, int);
int cuDevicePrimaryCtxRetain(void**, int);
int cuDeviceTotalMem_v2(std::size_t*, int);
int cuDriverGetVersion(int*);
int cuEventCreate(void**, unsigned);
int cuEventDestroy_v2(void*);
int cuEventElapsedTime_v2(float*, void*, void*);
int cuEventQuery(void*);
int cuEventRecordWithFlags(void*, void*, unsigned);
int cuEventSynchronize(void*);
int cuFuncGetAttribute(int*, int, void*);
int cuFuncSetAttribute(void*, int, int);
int cuGetErrorName(int, const char**);
int cuGetErrorString(int, const char**);
int cuGetProcAddress_v2(const char*, void**, int, std::uint64_t, int*);
int cuKernelGetParamInfo(void*, std::size_t, std::size_t*, std::size_t*);
int cuLaunchCooperativeKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                              unsigned, void*, void**);
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   void*, void**, void**);
int cuLaunchKernelEx(const hone::record::LaunchConfig*, void*, void**, void**);
int cuLibraryGetGlobal(unsigned long long*, std::size_t*, void*, const char*);
int cuLibraryGetKernel(void**, void*, const char*);
int cuLibraryLoadData(void**, const void*, int*, void**, unsigned, int*, void**, unsigned);
int cuMemAllocPitch_v2(unsigned long long*, std::size_t*, std::size_t, std::size_t, unsigned);
int cuMemAlloc_v2(unsigned long long*, std::size_t);
int cuMemFreeHost(void*);
int cuMemFree_v2(unsigned long long);
int cuMemGetInfo_v2(std::size_t*, std::size_t*);
int cuMemHostAlloc(void**, std::size_t, unsigned);
int cuMemHostGetFlags(unsigned*, void*);
int cuMemHostRegister_v2(void*, std::size_t, unsigned);
int cuMemHostUnregister(void*);
int cuMemPoolGetAttribute(void*, int, void*);
int cuMemcpy2DAsync_v2(const hone::record::Copy2D*, void*);
int cuMemcpyAsync(unsigned long long, unsigned long long, std::size_t, void*);
int cuMemsetD2D8Async(unsigned long long, std::size_t, unsigned char, std::size_t, std::size_t,
                      void*);
int cuMemsetD8Async(unsigned long long, unsigned char, std::size_t, void*);
int cuOccupancyAvailableDynamicSMemPerBlock(std::size_t*, void*, int, int);
int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int*, void*, int, std::size_t, unsigned);
int cuOccupancyMaxActiveClusters(int*, void*, const hone::record::LaunchConfig*);
int cuOccupancyMaxPotentialClusterSize(int*, void*, const hone::record::LaunchConfig*);
int cuPointerGetAttribute(void*, int, unsigned long long);
int cuStreamBeginCapture_v2(void*, int);
int cuStreamCreateWithPriority(void**, unsigned, int);
int cuStreamDestroy_v2(void*);
int cuStreamGetFlags(void*, unsigned*);
int cuStreamGetId(void*, unsigned long long*);
int cuStreamGetPriority(void*, int*);
int cuStreamQuery(void*);
int cuStreamSynchronize(void*);
int cuStreamWaitEvent(void*, void*, unsigned);
int hone_record_not_supported(const char*);
}

namespace hone::record {

/// Keeps an error for cudaGetLastError() and returns it.
int answered(int status);
/// Makes the only context current, as the first call of a thread does.
void need_context();
/// Finds the driver's handle of a kernel. `kernel`: the address of its host function, or the handle itself.
int resolve(const void* kernel, FunctionHandle* function);

}  // namespace hone::record
