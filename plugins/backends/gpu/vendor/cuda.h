// CUDA's words for what the gpu backend uses: types, constants and functions of the driver
// (libcuda) and of NVRTC, declared here so that building hone needs no toolkit.
// vendor/hip.h declares the same for HIP. tests/gpu/aliases_test.py checks that both lists are sorted and have the same aliases. tests/gpu/cuda_header_test.cpp compares numbers and layouts with an installed toolkit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "launch_shape.hpp"

namespace hone_gpu {

// ---- what this vendor is called ----------------------------------------------------------------

inline constexpr char kName[] = "cuda";
inline constexpr char kVendor[] = "NVIDIA";
inline constexpr char kCompilerName[] = "NVRTC";
inline constexpr char kHeader[] = "cuda_fp16.h";  // what the folder of the vendor's headers has
inline constexpr int kDriverMin = 11080;          // 11.8: launches in clusters
inline constexpr char kToolkitFolder[] = "/usr/local", kToolkitPrefix[] = "cuda";
// The declarations of these headers are available to sources that the runtime compiler builds.
inline constexpr const char* kImpliedHeaders[] = {"cuda_runtime.h", "device_launch_parameters.h"};
inline std::string version_text(int driver) {
  return "CUDA " + std::to_string(driver / 1000) + "." + std::to_string(driver % 1000 / 10);
}
inline constexpr char kDriverHelp[] =
    "install NVIDIA's driver, 11.8 or newer (libcuda.so.1); in a container, pass the devices "
    "through "
    "(docker run --gpus all)";
inline constexpr char kCompilerHelp[] =
    "pip install nvidia-cuda-nvrtc and name its libnvrtc.so.13 as cuda.compiler, or install a CUDA "
    "toolkit, 12 or newer";
inline constexpr char kSanitizerHelp[] =
    "install compute-sanitizer of a CUDA toolkit (package cuda-sanitizer-13-0), or name the "
    "program "
    "in the toolkit's folder compute-sanitizer as cuda.compute_sanitizer";

inline constexpr char kCountersHelp[] =
    "install CUPTI 12.6 or newer, from a CUDA toolkit (package cuda-cupti-13-0) or with pip "
    "install nvidia-cuda-cupti, or set cuda.cupti to the path of libcupti.so";

inline constexpr char kSummary[] = "CUDA device code and Python modules on NVIDIA's devices";
inline constexpr char kSuffix[] = ".cu";
inline constexpr bool kReplaysPlans = true;
inline constexpr bool kHasSanitizer = true;    // compute-sanitizer
inline constexpr bool kHasCounters = true;     // CUPTI
inline constexpr bool kWritesAssembly = true;  // the runtime compiler can return its assembler text
inline constexpr const char* kDeviceNodes[] = {"/dev/nvidia*"};
inline constexpr const char* kDriverFolders[] = {"/usr/local/nvidia", "/usr/local/cuda/compat"};

#ifndef HONE_GPU_DRIVER_LIBRARY
#define HONE_GPU_DRIVER_LIBRARY "libcuda.so.1"
#endif
#ifndef HONE_GPU_COMPILER_LIBRARY
#define HONE_GPU_COMPILER_LIBRARY "libnvrtc.so.13:libnvrtc.so.12"
#endif
#ifndef HONE_GPU_MANAGEMENT_LIBRARY
#define HONE_GPU_MANAGEMENT_LIBRARY "libnvidia-ml.so.1"
#endif

// ---- types -------------------------------------------------------------------------------------

using gpuResult = int;
using gpuDevice = int;
using gpuAddress = unsigned long long;
using gpuContext = struct CUctx_st*;
using gpuStream = struct CUstream_st*;
using gpuEvent = struct CUevent_st*;
using gpuModule = struct CUmod_st*;
using gpuFunction = struct CUfunc_st*;
using gpuMemory = unsigned long long;
using gpuGraph = struct CUgraph_st*;
using gpuGraphExec = struct CUgraphExec_st*;
using gpuProgram = struct nvrtc_program_st*;

struct gpuLocation {
  int type;
  int id;
};
struct gpuAllocation {
  int type;
  int handle_types;
  gpuLocation location;
  void* windows;
  unsigned char flags[8];
};
struct gpuAccess {
  gpuLocation location;
  int flags;
};
struct gpuCopy2D {
  std::size_t from_x, from_y;
  int from_kind;
  const void* from_host;
  gpuAddress from_device;
  void* from_array;
  std::size_t from_pitch;
  std::size_t to_x, to_y;
  int to_kind;
  void* to_host;
  gpuAddress to_device;
  void* to_array;
  std::size_t to_pitch;
  std::size_t width, height;
};
struct gpuLaunchAttribute {
  int id;
  char pad[4];
  union {
    char bytes[64];
    int cooperative;
    int overlaps;
    unsigned cluster[3];
    void* aligns;
  } value;
};
struct gpuLaunchConfig {
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  gpuStream stream;
  gpuLaunchAttribute* attributes;
  unsigned attribute_count;
};

// ---- constants ---------------------------------------------------------------------------------

inline constexpr gpuResult kNotSupported = 801;
inline constexpr int kMemoryPinned = 1;
inline constexpr int kMemoryOfDevice = 1;
inline constexpr int kHandlePosix = 1;
inline constexpr int kAccessReadWrite = 3;
inline constexpr int kGranularityMinimum = 0;
inline constexpr int kCopyHost = 1;
inline constexpr int kCopyDevice = 2;
inline constexpr int kLaunchCooperative = 2;
inline constexpr int kLaunchCluster = 4;
inline constexpr int kLaunchOverlaps = 6;
inline constexpr int kCaptureRelaxed = 2;
inline constexpr unsigned kEventNoTiming = 2;
inline constexpr unsigned kContextSpin = 1;
inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr int kLimitPrintf = 1;
inline constexpr int kLimitHeap = 2;
inline constexpr int kFunctionSharedStatic = 1;
inline constexpr int kFunctionSharedDynamicMax = 8;
inline constexpr int kFunctionSharedCarveout = 9;
inline constexpr int kFunctionLargeClusters = 14;

inline constexpr int kDeviceBlockThreads = 1;
inline constexpr int kDeviceBlockX = 2;
inline constexpr int kDeviceBlockY = 3;
inline constexpr int kDeviceBlockZ = 4;
inline constexpr int kDeviceGridX = 5;
inline constexpr int kDeviceGridY = 6;
inline constexpr int kDeviceGridZ = 7;
inline constexpr int kDevicePitchMax = 11;
inline constexpr int kDeviceClockKhz = 13;
inline constexpr int kDeviceMultiprocessors = 16;
inline constexpr int kDevicePciBus = 33;
inline constexpr int kDevicePciDevice = 34;
inline constexpr int kDeviceMemoryClockKhz = 36;
inline constexpr int kDeviceMemoryBusBits = 37;
inline constexpr int kDeviceCacheBytes = 38;
inline constexpr int kDevicePciDomain = 50;
inline constexpr int kDeviceMajor = 75;
inline constexpr int kDeviceMinor = 76;
inline constexpr int kDevicePageableMemory = 88;
inline constexpr int kDeviceCooperative = 95;
inline constexpr int kDeviceSharedBytes = 97;  // with the function's attribute set
inline constexpr int kDeviceMemoryMaps = 102;
inline constexpr int kDeviceClusters = 120;

// ---- functions: alias, symbol, type; sorted -------------------------------------------------

// clang-format off
#define HONE_GPU_DRIVER_FUNCTIONS(X)                                                              \
  X(gpuDeviceGet, cuDeviceGet, gpuResult(gpuDevice*, int))                                        \
  X(gpuDeviceGetAttribute, cuDeviceGetAttribute, gpuResult(int*, int, gpuDevice))                 \
  X(gpuDeviceGetCount, cuDeviceGetCount, gpuResult(int*))                                         \
  X(gpuDeviceGetName, cuDeviceGetName, gpuResult(char*, int, gpuDevice))                          \
  X(gpuDeviceTotalMem, cuDeviceTotalMem_v2, gpuResult(std::size_t*, gpuDevice))                   \
  X(gpuDriverGetVersion, cuDriverGetVersion, gpuResult(int*))                                     \
  X(gpuEventCreate, cuEventCreate, gpuResult(gpuEvent*, unsigned))                                \
  X(gpuEventDestroy, cuEventDestroy_v2, gpuResult(gpuEvent))                                      \
  X(gpuEventElapsedTime, cuEventElapsedTime_v2, gpuResult(float*, gpuEvent, gpuEvent))            \
  X(gpuEventRecord, cuEventRecord, gpuResult(gpuEvent, gpuStream))                                \
  X(gpuFuncGetAttribute, cuFuncGetAttribute, gpuResult(int*, int, gpuFunction))                   \
  X(gpuInit, cuInit, gpuResult(unsigned))                                                         \
  X(gpuMemAddressFree, cuMemAddressFree, gpuResult(gpuAddress, std::size_t))                      \
  X(gpuMemAddressReserve, cuMemAddressReserve,                                                    \
    gpuResult(gpuAddress*, std::size_t, std::size_t, gpuAddress, unsigned long long))             \
  X(gpuMemAllocHost, cuMemAllocHost_v2, gpuResult(void**, std::size_t))                           \
  X(gpuMemCreate, cuMemCreate,                                                                    \
    gpuResult(gpuMemory*, std::size_t, const gpuAllocation*, unsigned long long))                 \
  X(gpuMemExportToShareableHandle, cuMemExportToShareableHandle,                                  \
    gpuResult(void*, gpuMemory, int, unsigned long long))                                         \
  X(gpuMemFreeHost, cuMemFreeHost, gpuResult(void*))                                              \
  X(gpuMemGetAllocationGranularity, cuMemGetAllocationGranularity,                                \
    gpuResult(std::size_t*, const gpuAllocation*, int))                                           \
  X(gpuMemGetInfo, cuMemGetInfo_v2, gpuResult(std::size_t*, std::size_t*))                        \
  X(gpuMemImportFromShareableHandle, cuMemImportFromShareableHandle,                              \
    gpuResult(gpuMemory*, void*, int))                                                            \
  X(gpuMemMap, cuMemMap,                                                                          \
    gpuResult(gpuAddress, std::size_t, std::size_t, gpuMemory, unsigned long long))               \
  X(gpuMemRelease, cuMemRelease, gpuResult(gpuMemory))                                            \
  X(gpuMemSetAccess, cuMemSetAccess,                                                              \
    gpuResult(gpuAddress, std::size_t, const gpuAccess*, std::size_t))                            \
  X(gpuMemUnmap, cuMemUnmap, gpuResult(gpuAddress, std::size_t))                                  \
  X(gpuMemcpy2DAsync, cuMemcpy2DAsync_v2, gpuResult(const gpuCopy2D*, gpuStream))                 \
  X(gpuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2,                                                     \
    gpuResult(gpuAddress, gpuAddress, std::size_t, gpuStream))                                    \
  X(gpuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2,                                                     \
    gpuResult(void*, gpuAddress, std::size_t, gpuStream))                                         \
  X(gpuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2,                                                     \
    gpuResult(gpuAddress, const void*, std::size_t, gpuStream))                                   \
  X(gpuMemsetD16Async, cuMemsetD16Async,                                                          \
    gpuResult(gpuAddress, unsigned short, std::size_t, gpuStream))                                \
  X(gpuMemsetD32Async, cuMemsetD32Async,                                                          \
    gpuResult(gpuAddress, unsigned, std::size_t, gpuStream))                                      \
  X(gpuMemsetD8Async, cuMemsetD8Async,                                                            \
    gpuResult(gpuAddress, unsigned char, std::size_t, gpuStream))                                 \
  X(gpuModuleGetFunction, cuModuleGetFunction, gpuResult(gpuFunction*, gpuModule, const char*))   \
  X(gpuModuleGetGlobal, cuModuleGetGlobal_v2,                                                     \
    gpuResult(gpuAddress*, std::size_t*, gpuModule, const char*))                                 \
  X(gpuModuleLoadData, cuModuleLoadData, gpuResult(gpuModule*, const void*))                      \
  X(gpuModuleUnload, cuModuleUnload, gpuResult(gpuModule))                                        \
  X(gpuStreamCreate, cuStreamCreate, gpuResult(gpuStream*, unsigned))                             \
  X(gpuStreamDestroy, cuStreamDestroy_v2, gpuResult(gpuStream))                                   \
  X(gpuStreamSynchronize, cuStreamSynchronize, gpuResult(gpuStream))                              \
  X(gpuStreamWaitEvent, cuStreamWaitEvent, gpuResult(gpuStream, gpuEvent, unsigned))

// Of graphs: may be missing, then NULL.
#define HONE_GPU_GRAPH_FUNCTIONS(X)                                                               \
  X(gpuGraphDestroy, cuGraphDestroy, gpuResult(gpuGraph))                                         \
  X(gpuGraphExecDestroy, cuGraphExecDestroy, gpuResult(gpuGraphExec))                             \
  X(gpuGraphInstantiate, cuGraphInstantiateWithFlags,                                             \
    gpuResult(gpuGraphExec*, gpuGraph, unsigned long long))                                       \
  X(gpuGraphLaunch, cuGraphLaunch, gpuResult(gpuGraphExec, gpuStream))                            \
  X(gpuGraphUpload, cuGraphUpload, gpuResult(gpuGraphExec, gpuStream))                            \
  X(gpuStreamBeginCapture, cuStreamBeginCapture_v2, gpuResult(gpuStream, int))                    \
  X(gpuStreamEndCapture, cuStreamEndCapture, gpuResult(gpuStream, gpuGraph*))

// Of this vendor alone: used by the functions below.
#define HONE_GPU_OWN_FUNCTIONS(X)                                                                 \
  X(ownCtxSetCurrent, cuCtxSetCurrent, gpuResult(gpuContext))                                     \
  X(ownCtxSetLimit, cuCtxSetLimit, gpuResult(int, std::size_t))                                   \
  X(ownCtxSynchronize, cuCtxSynchronize, gpuResult())                                             \
  X(ownDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, gpuResult(gpuDevice))               \
  X(ownDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, gpuResult(gpuContext*, gpuDevice))       \
  X(ownDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags_v2, gpuResult(gpuDevice, unsigned))   \
  X(ownFuncSetAttribute, cuFuncSetAttribute, gpuResult(gpuFunction, int, int))                    \
  X(ownGetErrorName, cuGetErrorName, gpuResult(gpuResult, const char**))                          \
  X(ownGetErrorString, cuGetErrorString, gpuResult(gpuResult, const char**))                      \
  X(ownLaunchKernelEx, cuLaunchKernelEx,                                                          \
    gpuResult(const gpuLaunchConfig*, gpuFunction, void**, void**))                               \
  X(ownMemsetD2D16Async, cuMemsetD2D16Async,                                                      \
    gpuResult(gpuAddress, std::size_t, unsigned short, std::size_t, std::size_t, gpuStream))      \
  X(ownMemsetD2D32Async, cuMemsetD2D32Async,                                                      \
    gpuResult(gpuAddress, std::size_t, unsigned, std::size_t, std::size_t, gpuStream))            \
  X(ownMemsetD2D8Async, cuMemsetD2D8Async,                                                        \
    gpuResult(gpuAddress, std::size_t, unsigned char, std::size_t, std::size_t, gpuStream))

// May be missing: then NULL.
#define HONE_GPU_OPTIONAL_FUNCTIONS(X)                                                            \
  X(ownDeviceCanAccessPeer, cuDeviceCanAccessPeer, gpuResult(int*, gpuDevice, gpuDevice))         \
  X(ownFuncGetParamInfo, cuFuncGetParamInfo,                                                      \
    gpuResult(gpuFunction, std::size_t, std::size_t*, std::size_t*))                              \
  X(ownMemAlloc, cuMemAlloc_v2, gpuResult(gpuAddress*, std::size_t))                              \
  X(ownMemFree, cuMemFree_v2, gpuResult(gpuAddress))                                              \
  X(ownTensorMapEncodeTiled, cuTensorMapEncodeTiled,                                              \
    gpuResult(void*, int, unsigned, void*, const std::uint64_t*, const std::uint64_t*,            \
        const unsigned*, const unsigned*, int, int, int, int))

#define HONE_GPU_COMPILER_FUNCTIONS(X)                                                            \
  X(gpuAddNameExpression, nvrtcAddNameExpression, gpuResult(gpuProgram, const char*))             \
  X(gpuCompileProgram, nvrtcCompileProgram, gpuResult(gpuProgram, int, const char* const*))       \
  X(gpuCompilerVersion, nvrtcVersion, gpuResult(int*, int*))                                      \
  X(gpuCreateProgram, nvrtcCreateProgram,                                                         \
    gpuResult(gpuProgram*, const char*, const char*, int, const char* const*,                     \
        const char* const*))                                                                      \
  X(gpuGetImage, nvrtcGetCUBIN, gpuResult(gpuProgram, char*))                                     \
  X(gpuGetImageSize, nvrtcGetCUBINSize, gpuResult(gpuProgram, std::size_t*))                      \
  X(gpuGetLoweredName, nvrtcGetLoweredName, gpuResult(gpuProgram, const char*, const char**))     \
  X(gpuGetProgramLog, nvrtcGetProgramLog, gpuResult(gpuProgram, char*))                           \
  X(gpuGetProgramLogSize, nvrtcGetProgramLogSize, gpuResult(gpuProgram, std::size_t*))

// Of this vendor's compiler alone. May be missing: then NULL.
#define HONE_GPU_OWN_COMPILER_FUNCTIONS(X)                                                        \
  X(ownGetPtx, nvrtcGetPTX, gpuResult(gpuProgram, char*))                                         \
  X(ownGetPtxSize, nvrtcGetPTXSize, gpuResult(gpuProgram, std::size_t*))
// clang-format on

// ---- what differs in shape -----------------------------------------------------------------------

inline gpuAddress to_address(std::uint64_t value) { return value; }
inline std::uint64_t from_address(gpuAddress address) { return address; }

/// A descriptor as gpuMemImportFromShareableHandle takes it.
inline void* importable(int* fd, int /*driver_version*/) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(*fd));
}

/// Memory of exactly this size, in an allocation of its own.
template <typename Driver>
gpuResult allocate_exactly(const Driver& driver, gpuAddress* out, std::size_t bytes) {
  return driver.ownMemAlloc != nullptr ? driver.ownMemAlloc(out, bytes) : kNotSupported;
}
template <typename Driver>
void free_exactly(const Driver& driver, gpuAddress address) {
  if (driver.ownMemFree != nullptr) driver.ownMemFree(address);
}

/// Makes or takes the device's context; waits in it spin, because the thread that waits is the one
/// that stops the clock, and sleeping would cost it 50 µs.
template <typename Driver>
gpuResult make_context(const Driver& driver, gpuDevice device, gpuContext* out) {
  const gpuResult flagged = driver.ownDevicePrimaryCtxSetFlags(device, kContextSpin);
  return flagged != 0 ? flagged : driver.ownDevicePrimaryCtxRetain(out, device);
}
/// Makes a context the calling thread's.
template <typename Driver>
gpuResult use_context(const Driver& driver, gpuDevice /*device*/, gpuContext context) {
  return driver.ownCtxSetCurrent(context);
}
/// Waits for all work of the thread's context, whatever its stream.
template <typename Driver>
gpuResult synchronize_context(const Driver& driver) {
  return driver.ownCtxSynchronize();
}
/// Gives it back.
template <typename Driver>
void drop_context(const Driver& driver, gpuDevice device) {
  driver.ownCtxSetCurrent(nullptr);
  driver.ownDevicePrimaryCtxRelease(device);
}
/// Limits what device code of the thread's context may hoard, in bytes.
template <typename Driver>
gpuResult limit_context(const Driver& driver, int limit, std::size_t bytes) {
  return driver.ownCtxSetLimit(limit, bytes);
}

template <typename Driver>
gpuResult launch_kernel(const Driver& driver, gpuFunction function, const LaunchShape& shape,
                        gpuStream stream, void** arguments, void** packed = nullptr) {
  gpuLaunchAttribute attributes[3] = {};
  gpuLaunchConfig config{{shape.grid[0], shape.grid[1], shape.grid[2]},
                         {shape.block[0], shape.block[1], shape.block[2]},
                         shape.shared_bytes,
                         stream,
                         attributes,
                         0};
  if (shape.cooperative) {
    gpuLaunchAttribute& attribute = attributes[config.attribute_count++];
    attribute.id = kLaunchCooperative;
    attribute.value.cooperative = 1;
  }
  if (shape.cluster[0] != 0) {
    gpuLaunchAttribute& attribute = attributes[config.attribute_count++];
    attribute.id = kLaunchCluster;
    for (int i = 0; i < 3; ++i) attribute.value.cluster[i] = shape.cluster[i];
  }
  if (shape.overlaps) {
    gpuLaunchAttribute& attribute = attributes[config.attribute_count++];
    attribute.id = kLaunchOverlaps;
    attribute.value.overlaps = 1;
  }
  return driver.ownLaunchKernelEx(&config, function, arguments, packed);
}
/// Launches with arguments that lie as the kernel has them, padding included.
template <typename Driver>
gpuResult launch_packed(const Driver& driver, gpuFunction function, const LaunchShape& shape,
                        gpuStream stream, void* bytes, std::size_t size) {
  void* packed[] = {reinterpret_cast<void*>(1), bytes, reinterpret_cast<void*>(2), &size, nullptr};
  return launch_kernel(driver, function, shape, stream, nullptr, size > 0 ? packed : nullptr);
}

/// Sets `count` elements of `width` bytes in each of several rows.
template <typename Driver>
gpuResult fill_rows(const Driver& driver, gpuAddress at, std::size_t pitch, unsigned width,
                    unsigned value, std::size_t count, std::size_t rows, gpuStream stream) {
  if (width == 4) return driver.ownMemsetD2D32Async(at, pitch, value, count, rows, stream);
  if (width == 2) {
    const auto narrow = static_cast<unsigned short>(value);
    return driver.ownMemsetD2D16Async(at, pitch, narrow, count, rows, stream);
  }
  const auto narrow = static_cast<unsigned char>(value);
  return driver.ownMemsetD2D8Async(at, pitch, narrow, count, rows, stream);
}

/// Encodes a tensor map of 128 bytes, at a multiple of 64.
template <typename Driver>
gpuResult encode_tensor_map(const Driver& driver, void* out, gpuAddress at,
                            const TensorShape& map) {
  if (driver.ownTensorMapEncodeTiled == nullptr) return kNotSupported;
  return driver.ownTensorMapEncodeTiled(out, map.type, map.rank,
                                        reinterpret_cast<void*>(static_cast<std::uintptr_t>(at)),
                                        map.sizes, map.strides, map.box, map.element_strides,
                                        map.interleave, map.swizzle, map.promotion, map.fill);
}

/// Whether a device reaches another's memory; not where the driver cannot tell.
template <typename Driver>
bool reaches(const Driver& driver, gpuDevice device, gpuDevice peer) {
  int can = 0;
  return driver.ownDeviceCanAccessPeer != nullptr &&
         driver.ownDeviceCanAccessPeer(&can, device, peer) == 0 && can != 0;
}

/// The architecture to build for. Rationale: from 9.0 on, what one generation alone has (wgmma, TMA
/// with its multicast) is compiled under the name with an "a" only.
inline std::string architecture_of(int /*index*/, int major, int minor) {
  return "sm_" + std::to_string(major) + std::to_string(minor) + (major >= 9 ? "a" : "");
}
/// Memory transfers data on both edges of its clock.
inline double transfers_per_clock(const std::string& /*architecture*/) { return 2; }

/// Fused multiply-adds in single precision that a multiprocessor does in a cycle (CUDA C++ Programming Guide, throughput of
/// arithmetic instructions); 0: unknown.
inline int f32_lanes(const std::string& architecture) {
  for (const char* name : {"sm_70", "sm_72", "sm_75", "sm_80"})
    if (architecture.rfind(name, 0) == 0) return 64;
  for (const char* name :
       {"sm_86", "sm_87", "sm_89", "sm_90", "sm_100", "sm_103", "sm_120", "sm_121"})
    if (architecture.rfind(name, 0) == 0) return 128;
  return 0;
}
/// A cache behind the one that the driver tells of, in bytes.
inline std::int64_t outer_cache(const std::string& /*architecture*/) { return 0; }

/// The place and the size in bytes of a kernel's argument; false where it has none of that index. `known` is
/// whether the driver can tell.
template <typename Driver>
bool argument_place(const Driver& driver, gpuFunction function, std::size_t index,
                    std::size_t* offset, std::size_t* size, bool* known) {
  *known = driver.ownFuncGetParamInfo != nullptr;
  return *known && driver.ownFuncGetParamInfo(function, index, offset, size) == 0;
}

/// Lets a kernel be launched with that much dynamic shared memory; below 48 KiB nothing is needed.
template <typename Driver>
gpuResult allow_shared_bytes(const Driver& driver, gpuFunction function, unsigned bytes) {
  return driver.ownFuncSetAttribute(function, kFunctionSharedDynamicMax, static_cast<int>(bytes));
}

/// The share of shared memory, in per cent, that a kernel prefers.
template <typename Driver>
gpuResult prefer_shared(const Driver& driver, gpuFunction function, int percent) {
  return driver.ownFuncSetAttribute(function, kFunctionSharedCarveout, percent);
}
/// Lets a kernel be launched in clusters of more than 8 blocks.
template <typename Driver>
gpuResult allow_large_clusters(const Driver& driver, gpuFunction function) {
  return driver.ownFuncSetAttribute(function, kFunctionLargeClusters, 1);
}

/// "CUDA_ERROR_ILLEGAL_ADDRESS"; NULL for a number that the driver does not know.
template <typename Driver>
const char* error_name(const Driver& driver, gpuResult result) {
  const char* name = nullptr;
  return driver.ownGetErrorName(result, &name) == 0 ? name : nullptr;
}
template <typename Driver>
const char* error_text(const Driver& driver, gpuResult result) {
  const char* text = nullptr;
  return driver.ownGetErrorString(result, &text) == 0 ? text : nullptr;
}

}  // namespace hone_gpu
