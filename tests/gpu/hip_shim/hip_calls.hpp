// HIP's interface, as far as the shim has it: types, values and calls of ROCm 6. Names are HIP's.
#pragma once

#include <cstddef>
#include <cstdint>

#define HONE_SHIM_API extern "C" __attribute__((visibility("default")))

using hipError_t = int;
using hipDevice_t = int;
using hipDeviceptr_t = void*;
using hipStream_t = struct ihipStream_t*;
using hipEvent_t = struct ihipEvent_t*;
using hipGraph_t = struct ihipGraph*;
using hipGraphExec_t = struct hipGraphExec*;
using hipModule_t = struct ihipModule_t*;
using hipFunction_t = struct ihipModuleSymbol_t*;
using hipMemGenericAllocationHandle_t = struct ihipMemGenericAllocationHandle*;
using hiprtcProgram = struct _hiprtcProgram*;
using hiprtcResult = int;

/// CUDA's numbers, where HIP has the error.
enum : hipError_t {
  hipSuccess = 0,
  hipErrorInvalidValue = 1,
  hipErrorOutOfMemory = 2,
  hipErrorNotInitialized = 3,
  hipErrorInvalidDevice = 101,
  hipErrorInvalidImage = 200,
  hipErrorInvalidContext = 201,
  hipErrorUnsupportedLimit = 215,
  hipErrorSharedObjectInitFailed = 303,
  hipErrorOperatingSystem = 304,
  hipErrorInvalidHandle = 400,
  hipErrorNotFound = 500,
  hipErrorNotReady = 600,
  hipErrorIllegalAddress = 700,
  hipErrorLaunchOutOfResources = 701,
  hipErrorLaunchTimeOut = 702,
  hipErrorAssert = 710,
  hipErrorLaunchFailure = 719,
  hipErrorCooperativeLaunchTooLarge = 720,
  hipErrorNotSupported = 801,
  hipErrorUnknown = 999,
};

enum : int { hipMemoryTypeHost = 1, hipMemoryTypeDevice = 2 };

struct hipMemLocation {
  int type;
  int id;
};

struct hipMemAllocationProp {
  int type;
  int requestedHandleTypes;
  hipMemLocation location;
  void* win32HandleMetaData;
  struct {
    unsigned char compressionType;
    unsigned char gpuDirectRDMACapable;
    unsigned short usage;
  } allocFlags;
};

struct hipMemAccessDesc {
  hipMemLocation location;
  int flags;
};

struct hip_Memcpy2D {
  std::size_t srcXInBytes, srcY;
  int srcMemoryType;
  const void* srcHost;
  hipDeviceptr_t srcDevice;
  void* srcArray;
  std::size_t srcPitch;
  std::size_t dstXInBytes, dstY;
  int dstMemoryType;
  void* dstHost;
  hipDeviceptr_t dstDevice;
  void* dstArray;
  std::size_t dstPitch;
  std::size_t WidthInBytes, Height;
};

// NOLINTBEGIN(readability-identifier-naming): HIP's names.
HONE_SHIM_API hipError_t hipInit(unsigned flags);
HONE_SHIM_API hipError_t hipDriverGetVersion(int* version);
HONE_SHIM_API hipError_t hipGetDeviceCount(int* count);
HONE_SHIM_API hipError_t hipDeviceGet(hipDevice_t* device, int ordinal);
HONE_SHIM_API hipError_t hipDeviceGetName(char* name, int size, hipDevice_t device);
HONE_SHIM_API hipError_t hipDeviceGetAttribute(int* value, int attribute, hipDevice_t device);
HONE_SHIM_API hipError_t hipDeviceTotalMem(std::size_t* bytes, hipDevice_t device);
HONE_SHIM_API hipError_t hipSetDevice(int device);
HONE_SHIM_API hipError_t hipSetDeviceFlags(unsigned flags);
HONE_SHIM_API hipError_t hipDeviceSetLimit(int limit, std::size_t value);
HONE_SHIM_API hipError_t hipDeviceSynchronize();
HONE_SHIM_API const char* hipGetErrorName(hipError_t error);
HONE_SHIM_API const char* hipGetErrorString(hipError_t error);

HONE_SHIM_API hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags);
HONE_SHIM_API hipError_t hipStreamDestroy(hipStream_t stream);
HONE_SHIM_API hipError_t hipStreamSynchronize(hipStream_t stream);
HONE_SHIM_API hipError_t hipStreamQuery(hipStream_t stream);
HONE_SHIM_API hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags);
HONE_SHIM_API hipError_t hipStreamBeginCapture(hipStream_t stream, int mode);
HONE_SHIM_API hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph);
HONE_SHIM_API hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t* out, hipGraph_t graph,
                                                      unsigned long long flags);
HONE_SHIM_API hipError_t hipGraphLaunch(hipGraphExec_t graph, hipStream_t stream);
HONE_SHIM_API hipError_t hipGraphExecDestroy(hipGraphExec_t graph);
HONE_SHIM_API hipError_t hipGraphDestroy(hipGraph_t graph);
HONE_SHIM_API hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags);
HONE_SHIM_API hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream);
HONE_SHIM_API hipError_t hipEventSynchronize(hipEvent_t event);
HONE_SHIM_API hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t end);
HONE_SHIM_API hipError_t hipEventDestroy(hipEvent_t event);

HONE_SHIM_API hipError_t hipModuleLoadData(hipModule_t* module, const void* image);
HONE_SHIM_API hipError_t hipModuleUnload(hipModule_t module);
HONE_SHIM_API hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module,
                                              const char* name);
HONE_SHIM_API hipError_t hipModuleGetGlobal(void** out, std::size_t* bytes, hipModule_t module,
                                            const char* name);
HONE_SHIM_API hipError_t hipFuncGetAttribute(int* value, int attribute, hipFunction_t function);
HONE_SHIM_API hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned grid_x,
                                               unsigned grid_y, unsigned grid_z, unsigned block_x,
                                               unsigned block_y, unsigned block_z,
                                               unsigned shared_bytes, hipStream_t stream,
                                               void** arguments, void** extra);
HONE_SHIM_API hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t function, unsigned grid_x,
                                                          unsigned grid_y, unsigned grid_z,
                                                          unsigned block_x, unsigned block_y,
                                                          unsigned block_z, unsigned shared_bytes,
                                                          hipStream_t stream, void** arguments);

HONE_SHIM_API hipError_t hipMemGetInfo(std::size_t* free_bytes, std::size_t* total);
HONE_SHIM_API hipError_t hipMemGetAllocationGranularity(std::size_t* bytes,
                                                        const hipMemAllocationProp* prop,
                                                        int option);
HONE_SHIM_API hipError_t hipMemAddressReserve(void** out, std::size_t bytes, std::size_t alignment,
                                              void* address, unsigned long long flags);
HONE_SHIM_API hipError_t hipMemAddressFree(void* at, std::size_t bytes);
HONE_SHIM_API hipError_t hipMemCreate(hipMemGenericAllocationHandle_t* out, std::size_t bytes,
                                      const hipMemAllocationProp* prop, unsigned long long flags);
HONE_SHIM_API hipError_t hipMemRelease(hipMemGenericAllocationHandle_t handle);
HONE_SHIM_API hipError_t hipMemMap(void* at, std::size_t bytes, std::size_t offset,
                                   hipMemGenericAllocationHandle_t handle,
                                   unsigned long long flags);
HONE_SHIM_API hipError_t hipMemUnmap(void* at, std::size_t bytes);
HONE_SHIM_API hipError_t hipMemSetAccess(void* at, std::size_t bytes,
                                         const hipMemAccessDesc* access, std::size_t count);
HONE_SHIM_API hipError_t hipMemExportToShareableHandle(void* out,
                                                       hipMemGenericAllocationHandle_t handle,
                                                       int type, unsigned long long flags);
HONE_SHIM_API hipError_t hipMemImportFromShareableHandle(hipMemGenericAllocationHandle_t* out,
                                                         void* handle, int type);
HONE_SHIM_API hipError_t hipMemcpyHtoD(hipDeviceptr_t to, void* from, std::size_t bytes);
HONE_SHIM_API hipError_t hipMemcpyDtoH(void* to, hipDeviceptr_t from, std::size_t bytes);
HONE_SHIM_API hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t to, const void* from, std::size_t bytes,
                                            hipStream_t stream);
HONE_SHIM_API hipError_t hipMemcpyDtoHAsync(void* to, hipDeviceptr_t from, std::size_t bytes,
                                            hipStream_t stream);
HONE_SHIM_API hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t to, hipDeviceptr_t from,
                                            std::size_t bytes, hipStream_t stream);
HONE_SHIM_API hipError_t hipMemcpyParam2DAsync(const hip_Memcpy2D* what, hipStream_t stream);
HONE_SHIM_API hipError_t hipMemsetD8Async(hipDeviceptr_t at, unsigned char value, std::size_t bytes,
                                          hipStream_t stream);
HONE_SHIM_API hipError_t hipMemsetD16Async(hipDeviceptr_t at, unsigned short value,
                                           std::size_t count, hipStream_t stream);
HONE_SHIM_API hipError_t hipMemsetD32Async(hipDeviceptr_t at, int value, std::size_t count,
                                           hipStream_t stream);
HONE_SHIM_API hipError_t hipMemAllocHost(void** out, std::size_t bytes);
HONE_SHIM_API hipError_t hipHostMalloc(void** out, std::size_t bytes, unsigned flags);
HONE_SHIM_API hipError_t hipHostFree(void* memory);

HONE_SHIM_API hiprtcResult hiprtcVersion(int* major, int* minor);
HONE_SHIM_API const char* hiprtcGetErrorString(hiprtcResult result);
HONE_SHIM_API hiprtcResult hiprtcCreateProgram(hiprtcProgram* out, const char* source,
                                               const char* name, int count,
                                               const char* const* headers,
                                               const char* const* include_names);
HONE_SHIM_API hiprtcResult hiprtcDestroyProgram(hiprtcProgram* program);
HONE_SHIM_API hiprtcResult hiprtcAddNameExpression(hiprtcProgram program, const char* expression);
HONE_SHIM_API hiprtcResult hiprtcCompileProgram(hiprtcProgram program, int count,
                                                const char* const* options);
HONE_SHIM_API hiprtcResult hiprtcGetProgramLogSize(hiprtcProgram program, std::size_t* size);
HONE_SHIM_API hiprtcResult hiprtcGetProgramLog(hiprtcProgram program, char* log);
HONE_SHIM_API hiprtcResult hiprtcGetCodeSize(hiprtcProgram program, std::size_t* size);
HONE_SHIM_API hiprtcResult hiprtcGetCode(hiprtcProgram program, char* code);
HONE_SHIM_API hiprtcResult hiprtcGetLoweredName(hiprtcProgram program, const char* expression,
                                                const char** lowered);
// NOLINTEND(readability-identifier-naming)
