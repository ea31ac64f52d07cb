// The CUDA libraries under the shim: real ones, or the emulator's where HONE_SHIM_EMULATED is defined.
#pragma once

#include "emulator/cuda_calls.hpp"
#include "emulator/nvrtc_calls.hpp"

// clang-format off
#define HONE_SHIM_DRIVER_FUNCTIONS(X)                                                             \
  X(cuCtxSetCurrent) X(cuCtxSetLimit) X(cuDeviceGet) X(cuDeviceGetAttribute) X(cuDeviceGetCount)  \
  X(cuDeviceGetName) X(cuDevicePrimaryCtxRetain) X(cuDevicePrimaryCtxSetFlags_v2)                 \
  X(cuDeviceTotalMem_v2) X(cuEventCreate) X(cuEventDestroy_v2) X(cuEventElapsedTime_v2)           \
  X(cuEventRecord) X(cuEventSynchronize) X(cuFuncGetAttribute) X(cuFuncSetAttribute) X(cuInit)    \
  X(cuGraphDestroy) X(cuGraphExecDestroy) X(cuGraphInstantiateWithFlags) X(cuGraphLaunch)         \
  X(cuMemsetD16Async) X(cuMemsetD32Async) X(cuModuleGetGlobal_v2) X(cuStreamBeginCapture_v2)      \
  X(cuStreamEndCapture) X(cuStreamWaitEvent)                                                      \
  X(cuLaunchKernelEx) X(cuMemAddressFree) X(cuMemAddressReserve) X(cuMemAllocHost_v2)             \
  X(cuMemCreate) X(cuMemExportToShareableHandle) X(cuMemFreeHost)                                 \
  X(cuMemGetAllocationGranularity) X(cuMemGetInfo_v2) X(cuMemImportFromShareableHandle)           \
  X(cuMemMap) X(cuMemRelease) X(cuMemSetAccess) X(cuMemUnmap) X(cuMemcpy2DAsync_v2)               \
  X(cuMemcpyDtoDAsync_v2) X(cuMemcpyDtoHAsync_v2) X(cuMemcpyDtoH_v2) X(cuMemcpyHtoDAsync_v2)      \
  X(cuMemcpyHtoD_v2) X(cuMemsetD8Async) X(cuModuleGetFunction) X(cuModuleLoadData)                \
  X(cuModuleUnload) X(cuCtxSynchronize) X(cuStreamCreate) X(cuStreamDestroy_v2) X(cuStreamQuery)  \
  X(cuStreamSynchronize)

#define HONE_SHIM_COMPILER_FUNCTIONS(X)                                                           \
  X(nvrtcAddNameExpression) X(nvrtcCompileProgram) X(nvrtcCreateProgram) X(nvrtcDestroyProgram)   \
  X(nvrtcGetCUBIN) X(nvrtcGetCUBINSize) X(nvrtcGetErrorString) X(nvrtcGetLoweredName)             \
  X(nvrtcGetProgramLog) X(nvrtcGetProgramLogSize)
// clang-format on

namespace hone_shim {

#define HONE_SHIM_MEMBER(name) decltype(&::name) name = nullptr;

/// All members are set, or `missing` says what is not there.
struct CudaDriver {
  const char* missing = nullptr;
  HONE_SHIM_DRIVER_FUNCTIONS(HONE_SHIM_MEMBER)
};

struct CudaCompiler {
  const char* missing = nullptr;
  HONE_SHIM_COMPILER_FUNCTIONS(HONE_SHIM_MEMBER)
};

#undef HONE_SHIM_MEMBER

/// Loaded at the first call.
const CudaDriver& cuda();
const CudaCompiler& nvrtc();

}  // namespace hone_shim
