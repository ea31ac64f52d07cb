// The driver's entry points that hone uses, as the emulator exports them and as libcuda.so.1 does.
#pragma once

#include "cuda_abi.hpp"

#define HONE_EMULATED_API extern "C" __attribute__((visibility("default")))

// NOLINTBEGIN(readability-identifier-naming): the driver's names.
HONE_EMULATED_API CUresult cuInit(unsigned flags);
HONE_EMULATED_API CUresult cuDriverGetVersion(int* version);
HONE_EMULATED_API CUresult cuDeviceGetCount(int* count);
HONE_EMULATED_API CUresult cuDeviceGet(CUdevice* device, int ordinal);
HONE_EMULATED_API CUresult cuDeviceGetName(char* name, int size, CUdevice device);
HONE_EMULATED_API CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute what,
                                                CUdevice device);
HONE_EMULATED_API CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice device);
HONE_EMULATED_API CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned);
HONE_EMULATED_API CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device);
HONE_EMULATED_API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device);
HONE_EMULATED_API CUresult cuCtxSetCurrent(CUcontext context);
HONE_EMULATED_API CUresult cuCtxSynchronize();
HONE_EMULATED_API CUresult cuCtxSetLimit(CUlimit limit, std::size_t value);
HONE_EMULATED_API CUresult cuStreamCreate(CUstream* stream, unsigned);
HONE_EMULATED_API CUresult cuStreamDestroy_v2(CUstream stream);
HONE_EMULATED_API CUresult cuStreamSynchronize(CUstream);
HONE_EMULATED_API CUresult cuStreamQuery(CUstream);
HONE_EMULATED_API CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned);
HONE_EMULATED_API CUresult cuStreamBeginCapture_v2(CUstream stream, int mode);
HONE_EMULATED_API CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph);
HONE_EMULATED_API CUresult cuGraphInstantiateWithFlags(CUgraphExec* out, CUgraph graph,
                                                       unsigned long long flags);
HONE_EMULATED_API CUresult cuGraphLaunch(CUgraphExec graph, CUstream stream);
HONE_EMULATED_API CUresult cuGraphExecDestroy(CUgraphExec graph);
HONE_EMULATED_API CUresult cuGraphDestroy(CUgraph graph);
HONE_EMULATED_API CUresult cuEventCreate(CUevent* event, unsigned);
HONE_EMULATED_API CUresult cuEventRecord(CUevent event, CUstream);
HONE_EMULATED_API CUresult cuEventSynchronize(CUevent);
HONE_EMULATED_API CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end);
HONE_EMULATED_API CUresult cuEventDestroy_v2(CUevent event);
HONE_EMULATED_API CUresult cuGetErrorName(CUresult code, const char** name);
HONE_EMULATED_API CUresult cuGetErrorString(CUresult code, const char** text);
HONE_EMULATED_API CUresult cuMemGetInfo_v2(std::size_t* free_bytes, std::size_t* total);
HONE_EMULATED_API CUresult cuMemGetAllocationGranularity(std::size_t* bytes,
                                                         const CUmemAllocationProp* prop,
                                                         CUmemAllocationGranularity_flags);
HONE_EMULATED_API CUresult cuMemAddressReserve(CUdeviceptr* out, std::size_t bytes,
                                               std::size_t alignment, CUdeviceptr,
                                               unsigned long long flags);
HONE_EMULATED_API CUresult cuMemAddressFree(CUdeviceptr at, std::size_t bytes);
HONE_EMULATED_API CUresult cuMemCreate(CUmemGenericAllocationHandle* out, std::size_t bytes,
                                       const CUmemAllocationProp* prop, unsigned long long flags);
HONE_EMULATED_API CUresult cuMemRelease(CUmemGenericAllocationHandle handle);
HONE_EMULATED_API CUresult cuMemMap(CUdeviceptr at, std::size_t bytes, std::size_t offset,
                                    CUmemGenericAllocationHandle handle, unsigned long long flags);
HONE_EMULATED_API CUresult cuMemUnmap(CUdeviceptr at, std::size_t bytes);
HONE_EMULATED_API CUresult cuMemSetAccess(CUdeviceptr at, std::size_t bytes,
                                          const CUmemAccessDesc* access, std::size_t count);
HONE_EMULATED_API CUresult cuMemExportToShareableHandle(void* out,
                                                        CUmemGenericAllocationHandle handle,
                                                        CUmemAllocationHandleType type,
                                                        unsigned long long flags);
HONE_EMULATED_API CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* out,
                                                          void* handle,
                                                          CUmemAllocationHandleType type);
HONE_EMULATED_API CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t bytes);
HONE_EMULATED_API CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes);
HONE_EMULATED_API CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes,
                                                CUstream);
HONE_EMULATED_API CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes,
                                                CUstream);
HONE_EMULATED_API CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                                                CUstream);
HONE_EMULATED_API CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* what, CUstream);
HONE_EMULATED_API CUresult cuMemsetD8Async(CUdeviceptr at, unsigned char value, std::size_t bytes,
                                           CUstream);
HONE_EMULATED_API CUresult cuMemsetD16Async(CUdeviceptr at, unsigned short value, std::size_t count,
                                            CUstream);
HONE_EMULATED_API CUresult cuMemsetD32Async(CUdeviceptr at, unsigned value, std::size_t count,
                                            CUstream);
HONE_EMULATED_API CUresult cuMemsetD2D8Async(CUdeviceptr at, std::size_t pitch, unsigned char value,
                                             std::size_t width, std::size_t rows, CUstream);
HONE_EMULATED_API CUresult cuMemsetD2D16Async(CUdeviceptr at, std::size_t pitch,
                                              unsigned short value, std::size_t width,
                                              std::size_t rows, CUstream);
HONE_EMULATED_API CUresult cuMemsetD2D32Async(CUdeviceptr at, std::size_t pitch, unsigned value,
                                              std::size_t width, std::size_t rows, CUstream);
HONE_EMULATED_API CUresult cuMemAlloc_v2(CUdeviceptr* out, std::size_t bytes);
HONE_EMULATED_API CUresult cuMemFree_v2(CUdeviceptr at);
HONE_EMULATED_API CUresult cuMemAllocHost_v2(void** out, std::size_t bytes);
HONE_EMULATED_API CUresult cuMemFreeHost(void* memory);
HONE_EMULATED_API CUresult cuModuleLoadData(CUmodule* out, const void* image);
HONE_EMULATED_API CUresult cuModuleUnload(CUmodule handle);
HONE_EMULATED_API CUresult cuModuleGetFunction(CUfunction* out, CUmodule handle, const char* name);
HONE_EMULATED_API CUresult cuModuleGetGlobal_v2(CUdeviceptr* out, std::size_t* bytes,
                                                CUmodule handle, const char* name);
HONE_EMULATED_API CUresult cuTensorMapEncodeTiled(CUtensorMap* map, int type, unsigned rank,
                                                  void* address, const std::uint64_t* sizes,
                                                  const std::uint64_t* strides, const unsigned* box,
                                                  const unsigned* element_strides, int interleave,
                                                  int swizzle, int promotion, int fill);
HONE_EMULATED_API CUresult cuFuncGetAttribute(int* out, CUfunction_attribute attribute,
                                              CUfunction handle);
HONE_EMULATED_API CUresult cuFuncGetParamInfo(CUfunction handle, std::size_t index,
                                              std::size_t* offset, std::size_t* size);
HONE_EMULATED_API CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute,
                                              int value);
HONE_EMULATED_API CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function,
                                            void** arguments, void** extra);
// NOLINTEND(readability-identifier-naming)
