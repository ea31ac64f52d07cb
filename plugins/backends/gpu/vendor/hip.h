// HIP's words for what the gpu backend uses: types, constants and functions of the runtime
// (libamdhip64) and of hiprtc, declared here so that building hone needs no ROCm.
//
// The numbers and layouts are ROCm 6's and 7's; 5 has another order in two of the structures, and no
// device memory that processes can share, so that devices need 6. vendor/cuda.h declares the same for CUDA with the same aliases; read it first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "launch_shape.hpp"

namespace hone_gpu {

// ---- what this vendor is called ----------------------------------------------------------------

inline constexpr char kName[] = "hip";
inline constexpr char kVendor[] = "AMD";
inline constexpr char kCompilerName[] = "hiprtc";
inline constexpr char kHeader[] = "hip/hip_fp16.h";  // what the folder of the vendor's headers has
inline constexpr int kDriverMin = 60000000;          // 6.0: device memory that processes share
inline constexpr char kToolkitFolder[] = "/opt", kToolkitPrefix[] = "rocm";
// The declarations of these headers are available to sources that the runtime compiler builds.
inline constexpr const char* kImpliedHeaders[] = {"hip/hip_fp16.h", "hip/hip_runtime.h"};
inline std::string version_text(int driver) {
  return "HIP " + std::to_string(driver / 10000000) + "." + std::to_string(driver / 100000 % 100);
}
inline constexpr char kDriverHelp[] =
    "install ROCm 6.0 or newer (libamdhip64.so); in a container, pass the devices through (docker "
    "run "
    "--device /dev/kfd --device /dev/dri)";
inline constexpr char kCompilerHelp[] =
    "install ROCm's hiprtc, or scripts/setup --hip and hip.compiler: /usr/bin/clang++-19";

inline constexpr char kSummary[] = "HIP device code and Python modules on AMD's devices";
inline constexpr char kSuffix[] = ".hip";
inline constexpr bool kReplaysPlans = false;  // the recording driver is CUDA's alone
inline constexpr bool kHasSanitizer = false;  // ROCm has none with these reports
inline constexpr bool kHasCounters = false;
inline constexpr bool kWritesAssembly = false;  // hiprtc has no function for it
inline constexpr const char* kDeviceNodes[] = {"/dev/kfd", "/dev/dri/renderD*"};
inline constexpr const char* kDriverFolders[] = {"/opt/rocm", "/sys/class/kfd"};

#ifndef HONE_GPU_DRIVER_LIBRARY
#define HONE_GPU_DRIVER_LIBRARY "libamdhip64.so.7:libamdhip64.so.6:libamdhip64.so.5"
#endif
#ifndef HONE_GPU_COMPILER_LIBRARY
#define HONE_GPU_COMPILER_LIBRARY \
  "libhiprtc.so.7:libhiprtc.so.6:libhiprtc.so.5:libamdhip64.so.5"  // 5.2 has it in the runtime
#endif
#ifndef HONE_GPU_MANAGEMENT_LIBRARY
#define HONE_GPU_MANAGEMENT_LIBRARY ""  // none that is known to tell of throttling
#endif

// ---- types -------------------------------------------------------------------------------------

using gpuResult = int;
using gpuDevice = int;
using gpuAddress = void*;
using gpuContext = void*;  // the device itself is the handle
using gpuStream = struct ihipStream_t*;
using gpuEvent = struct ihipEvent_t*;
using gpuModule = struct ihipModule_t*;
using gpuFunction = struct ihipModuleSymbol_t*;
using gpuMemory = struct ihipMemGenericAllocationHandle*;
using gpuGraph = struct ihipGraph*;
using gpuGraphExec = struct hipGraphExec*;
using gpuProgram = struct _hiprtcProgram*;

struct gpuLocation {
  int type;
  int id;
};
struct gpuAllocation {
  int type;
  int handle_types;
  gpuLocation location;
  void* windows;
  unsigned char compression;
  unsigned char rdma;
  unsigned short usage;
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

// ---- constants ---------------------------------------------------------------------------------

inline constexpr gpuResult kNotSupported = 801;
inline constexpr int kMemoryPinned = 1;
inline constexpr int kMemoryOfDevice = 1;
inline constexpr int kHandlePosix = 1;
inline constexpr int kAccessReadWrite = 3;
inline constexpr int kGranularityMinimum = 0;
inline constexpr int kCopyHost = 1;
inline constexpr int kCopyDevice = 2;
inline constexpr unsigned kContextSpin = 1;
inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr int kLimitPrintf = 1;
inline constexpr int kLimitHeap = 2;
inline constexpr int kFunctionSharedStatic = 1;
inline constexpr int kCaptureRelaxed = 2;
inline constexpr unsigned kEventNoTiming = 2;

inline constexpr int kDeviceBlockThreads = 56;
inline constexpr int kDeviceBlockX = 26;
inline constexpr int kDeviceBlockY = 27;
inline constexpr int kDeviceBlockZ = 28;
inline constexpr int kDeviceGridX = 29;
inline constexpr int kDeviceGridY = 30;
inline constexpr int kDeviceGridZ = 31;
inline constexpr int kDevicePitchMax = 58;
inline constexpr int kDeviceClockKhz = 5;
inline constexpr int kDeviceMultiprocessors = 63;
inline constexpr int kDevicePciBus = 67;
inline constexpr int kDevicePciDevice = 68;
inline constexpr int kDeviceMemoryClockKhz = 60;
inline constexpr int kDeviceMemoryBusBits = 59;
inline constexpr int kDeviceCacheBytes = 19;
inline constexpr int kDevicePciDomain = 69;
inline constexpr int kDeviceMajor = 23;
inline constexpr int kDeviceMinor = 61;
inline constexpr int kDevicePageableMemory = 65;
inline constexpr int kDeviceCooperative = 10;
inline constexpr int kDeviceSharedBytes = 74;
inline constexpr int kDeviceMemoryMaps = 89;
inline constexpr int kDeviceClusters = -1;  // no such thing

// ---- functions: alias, symbol, type; sorted -------------------------------------------------

// clang-format off
#define HONE_GPU_DRIVER_FUNCTIONS(X)                                                              \
  X(gpuDeviceGet, hipDeviceGet, gpuResult(gpuDevice*, int))                                       \
  X(gpuDeviceGetAttribute, hipDeviceGetAttribute, gpuResult(int*, int, gpuDevice))                \
  X(gpuDeviceGetCount, hipGetDeviceCount, gpuResult(int*))                                        \
  X(gpuDeviceGetName, hipDeviceGetName, gpuResult(char*, int, gpuDevice))                         \
  X(gpuDeviceTotalMem, hipDeviceTotalMem, gpuResult(std::size_t*, gpuDevice))                     \
  X(gpuDriverGetVersion, hipDriverGetVersion, gpuResult(int*))                                    \
  X(gpuEventCreate, hipEventCreateWithFlags, gpuResult(gpuEvent*, unsigned))                      \
  X(gpuEventDestroy, hipEventDestroy, gpuResult(gpuEvent))                                        \
  X(gpuEventElapsedTime, hipEventElapsedTime, gpuResult(float*, gpuEvent, gpuEvent))              \
  X(gpuEventRecord, hipEventRecord, gpuResult(gpuEvent, gpuStream))                               \
  X(gpuFuncGetAttribute, hipFuncGetAttribute, gpuResult(int*, int, gpuFunction))                  \
  X(gpuInit, hipInit, gpuResult(unsigned))                                                        \
  X(gpuMemAddressFree, hipMemAddressFree, gpuResult(gpuAddress, std::size_t))                     \
  X(gpuMemAddressReserve, hipMemAddressReserve,                                                   \
    gpuResult(gpuAddress*, std::size_t, std::size_t, gpuAddress, unsigned long long))             \
  X(gpuMemAllocHost, hipMemAllocHost, gpuResult(void**, std::size_t))                             \
  X(gpuMemCreate, hipMemCreate,                                                                   \
    gpuResult(gpuMemory*, std::size_t, const gpuAllocation*, unsigned long long))                 \
  X(gpuMemExportToShareableHandle, hipMemExportToShareableHandle,                                 \
    gpuResult(void*, gpuMemory, int, unsigned long long))                                         \
  X(gpuMemFreeHost, hipHostFree, gpuResult(void*))                                                \
  X(gpuMemGetAllocationGranularity, hipMemGetAllocationGranularity,                               \
    gpuResult(std::size_t*, const gpuAllocation*, int))                                           \
  X(gpuMemGetInfo, hipMemGetInfo, gpuResult(std::size_t*, std::size_t*))                          \
  X(gpuMemImportFromShareableHandle, hipMemImportFromShareableHandle,                             \
    gpuResult(gpuMemory*, void*, int))                                                            \
  X(gpuMemMap, hipMemMap,                                                                         \
    gpuResult(gpuAddress, std::size_t, std::size_t, gpuMemory, unsigned long long))               \
  X(gpuMemRelease, hipMemRelease, gpuResult(gpuMemory))                                           \
  X(gpuMemSetAccess, hipMemSetAccess,                                                             \
    gpuResult(gpuAddress, std::size_t, const gpuAccess*, std::size_t))                            \
  X(gpuMemUnmap, hipMemUnmap, gpuResult(gpuAddress, std::size_t))                                 \
  X(gpuMemcpy2DAsync, hipMemcpyParam2DAsync, gpuResult(const gpuCopy2D*, gpuStream))              \
  X(gpuMemcpyDtoDAsync, hipMemcpyDtoDAsync,                                                       \
    gpuResult(gpuAddress, gpuAddress, std::size_t, gpuStream))                                    \
  X(gpuMemcpyDtoHAsync, hipMemcpyDtoHAsync, gpuResult(void*, gpuAddress, std::size_t, gpuStream)) \
  X(gpuMemcpyHtoDAsync, hipMemcpyHtoDAsync,                                                       \
    gpuResult(gpuAddress, const void*, std::size_t, gpuStream))                                   \
  X(gpuMemsetD16Async, hipMemsetD16Async,                                                         \
    gpuResult(gpuAddress, unsigned short, std::size_t, gpuStream))                                \
  X(gpuMemsetD32Async, hipMemsetD32Async,                                                         \
    gpuResult(gpuAddress, unsigned, std::size_t, gpuStream))                                           \
  X(gpuMemsetD8Async, hipMemsetD8Async,                                                           \
    gpuResult(gpuAddress, unsigned char, std::size_t, gpuStream))                                 \
  X(gpuModuleGetFunction, hipModuleGetFunction, gpuResult(gpuFunction*, gpuModule, const char*))  \
  X(gpuModuleGetGlobal, hipModuleGetGlobal,                                                       \
    gpuResult(gpuAddress*, std::size_t*, gpuModule, const char*))                                 \
  X(gpuModuleLoadData, hipModuleLoadData, gpuResult(gpuModule*, const void*))                     \
  X(gpuModuleUnload, hipModuleUnload, gpuResult(gpuModule))                                       \
  X(gpuStreamCreate, hipStreamCreateWithFlags, gpuResult(gpuStream*, unsigned))                   \
  X(gpuStreamDestroy, hipStreamDestroy, gpuResult(gpuStream))                                     \
  X(gpuStreamSynchronize, hipStreamSynchronize, gpuResult(gpuStream))                             \
  X(gpuStreamWaitEvent, hipStreamWaitEvent, gpuResult(gpuStream, gpuEvent, unsigned))

// Of graphs: may be missing, then NULL.
#define HONE_GPU_GRAPH_FUNCTIONS(X)                                                               \
  X(gpuGraphDestroy, hipGraphDestroy, gpuResult(gpuGraph))                                        \
  X(gpuGraphExecDestroy, hipGraphExecDestroy, gpuResult(gpuGraphExec))                            \
  X(gpuGraphInstantiate, hipGraphInstantiateWithFlags,                                            \
    gpuResult(gpuGraphExec*, gpuGraph, unsigned long long))                                       \
  X(gpuGraphLaunch, hipGraphLaunch, gpuResult(gpuGraphExec, gpuStream))                           \
  X(gpuGraphUpload, hipGraphUpload, gpuResult(gpuGraphExec, gpuStream))                           \
  X(gpuStreamBeginCapture, hipStreamBeginCapture, gpuResult(gpuStream, int))                      \
  X(gpuStreamEndCapture, hipStreamEndCapture, gpuResult(gpuStream, gpuGraph*))

// Of this vendor alone: used by the functions below.
#define HONE_GPU_OWN_FUNCTIONS(X)                                                                 \
  X(ownDeviceSynchronize, hipDeviceSynchronize, gpuResult())                                      \
  X(ownGetErrorName, hipGetErrorName, const char*(gpuResult))                                     \
  X(ownGetErrorString, hipGetErrorString, const char*(gpuResult))                                 \
  X(ownModuleLaunchKernel, hipModuleLaunchKernel,                                                 \
    gpuResult(gpuFunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,            \
        unsigned, gpuStream, void**, void**))                                                     \
  X(ownSetDevice, hipSetDevice, gpuResult(int))                                                   \
  X(ownSetDeviceFlags, hipSetDeviceFlags, gpuResult(unsigned))

// May be missing: then NULL.
#define HONE_GPU_OPTIONAL_FUNCTIONS(X)                                                            \
  X(ownDeviceCanAccessPeer, hipDeviceCanAccessPeer, gpuResult(int*, gpuDevice, gpuDevice))        \
  X(ownDeviceSetLimit, hipDeviceSetLimit, gpuResult(int, std::size_t))                            \
  X(ownModuleLaunchCooperativeKernel, hipModuleLaunchCooperativeKernel,                           \
    gpuResult(gpuFunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,            \
        unsigned, gpuStream, void**))

#define HONE_GPU_COMPILER_FUNCTIONS(X)                                                            \
  X(gpuAddNameExpression, hiprtcAddNameExpression, gpuResult(gpuProgram, const char*))            \
  X(gpuCompileProgram, hiprtcCompileProgram, gpuResult(gpuProgram, int, const char* const*))      \
  X(gpuCompilerVersion, hiprtcVersion, gpuResult(int*, int*))                                     \
  X(gpuCreateProgram, hiprtcCreateProgram,                                                        \
    gpuResult(gpuProgram*, const char*, const char*, int, const char* const*,                     \
        const char* const*))                                                                      \
  X(gpuGetImage, hiprtcGetCode, gpuResult(gpuProgram, char*))                                     \
  X(gpuGetImageSize, hiprtcGetCodeSize, gpuResult(gpuProgram, std::size_t*))                      \
  X(gpuGetLoweredName, hiprtcGetLoweredName, gpuResult(gpuProgram, const char*, const char**))    \
  X(gpuGetProgramLog, hiprtcGetProgramLog, gpuResult(gpuProgram, char*))                          \
  X(gpuGetProgramLogSize, hiprtcGetProgramLogSize, gpuResult(gpuProgram, std::size_t*))

// Of this vendor's compiler alone. May be missing: then NULL.
#define HONE_GPU_OWN_COMPILER_FUNCTIONS(X)
// clang-format on

// ---- what differs in shape -----------------------------------------------------------------------

inline gpuAddress to_address(std::uint64_t value) { return reinterpret_cast<void*>(value); }
inline std::uint64_t from_address(gpuAddress address) {
  return reinterpret_cast<std::uint64_t>(address);
}

/// A descriptor as gpuMemImportFromShareableHandle takes it: from ROCm 7.1 on as CUDA does, by value; before by
/// its address.
inline void* importable(int* fd, int driver_version) {
  constexpr int kByValueFrom = 70100000;
  return driver_version < kByValueFrom ? static_cast<void*>(fd)
                                       : reinterpret_cast<void*>(static_cast<std::uintptr_t>(*fd));
}

/// There is no sanitizer that needs such memory.
template <typename Driver>
gpuResult allocate_exactly(const Driver& /*driver*/, gpuAddress* /*out*/, std::size_t /*bytes*/) {
  return kNotSupported;
}
template <typename Driver>
void free_exactly(const Driver& /*driver*/, gpuAddress /*address*/) {}

/// HIP has one context a device, and a thread chooses it by the device. Waits in it spin where the
/// runtime lets us say so.
template <typename Driver>
gpuResult make_context(const Driver& driver, gpuDevice device, gpuContext* out) {
  const gpuResult chosen = driver.ownSetDevice(device);
  if (chosen != 0) return chosen;
  driver.ownSetDeviceFlags(kContextSpin);
  *out = reinterpret_cast<gpuContext>(static_cast<std::uintptr_t>(device) + 1);
  return 0;
}
template <typename Driver>
gpuResult use_context(const Driver& driver, gpuDevice device, gpuContext /*context*/) {
  return driver.ownSetDevice(device);
}
/// Waits for all work of this process on the thread's device, whatever its stream.
template <typename Driver>
gpuResult synchronize_context(const Driver& driver) {
  return driver.ownDeviceSynchronize();
}
template <typename Driver>
void drop_context(const Driver& /*driver*/, gpuDevice /*device*/) {}
/// Where a release has no such limit, its own fixed one must do.
template <typename Driver>
gpuResult limit_context(const Driver& driver, int limit, std::size_t bytes) {
  if (driver.ownDeviceSetLimit != nullptr) driver.ownDeviceSetLimit(limit, bytes);
  return 0;
}

template <typename Driver>
gpuResult launch_kernel(const Driver& driver, gpuFunction function, const LaunchShape& shape,
                        gpuStream stream, void** arguments, void** packed = nullptr) {
  if (shape.cluster[0] != 0) return kNotSupported;
  if (!shape.cooperative) {
    return driver.ownModuleLaunchKernel(function, shape.grid[0], shape.grid[1], shape.grid[2],
                                        shape.block[0], shape.block[1], shape.block[2],
                                        shape.shared_bytes, stream, arguments, packed);
  }
  if (driver.ownModuleLaunchCooperativeKernel == nullptr || packed != nullptr) return kNotSupported;
  return driver.ownModuleLaunchCooperativeKernel(
      function, shape.grid[0], shape.grid[1], shape.grid[2], shape.block[0], shape.block[1],
      shape.block[2], shape.shared_bytes, stream, arguments);
}
/// Launches with arguments that lie as the kernel has them, padding included.
template <typename Driver>
gpuResult launch_packed(const Driver& driver, gpuFunction function, const LaunchShape& shape,
                        gpuStream stream, void* bytes, std::size_t size) {
  void* packed[] = {reinterpret_cast<void*>(1), bytes, reinterpret_cast<void*>(2), &size,
                    reinterpret_cast<void*>(3)};
  return launch_kernel(driver, function, shape, stream, nullptr, size > 0 ? packed : nullptr);
}

/// Sets `count` elements of `width` bytes in each of several rows.
template <typename Driver>
gpuResult fill_rows(const Driver& driver, gpuAddress at, std::size_t pitch, unsigned width,
                    unsigned value, std::size_t count, std::size_t rows, gpuStream stream) {
  gpuResult result = 0;
  for (std::size_t row = 0; row < rows && result == 0; ++row) {
    void* const begin = static_cast<char*>(at) + row * pitch;
    if (width == 4) {
      result = driver.gpuMemsetD32Async(begin, value, count, stream);
    } else if (width == 2) {
      const auto narrow = static_cast<unsigned short>(value);
      result = driver.gpuMemsetD16Async(begin, narrow, count, stream);
    } else {
      const auto narrow = static_cast<unsigned char>(value);
      result = driver.gpuMemsetD8Async(begin, narrow, count, stream);
    }
  }
  return result;
}

/// AMD's devices have no tensor maps.
template <typename Driver>
gpuResult encode_tensor_map(const Driver& /*driver*/, void* /*out*/, gpuAddress /*at*/,
                            const TensorShape& /*map*/) {
  return kNotSupported;
}

/// Whether a device reaches another's memory; not where the runtime cannot tell.
template <typename Driver>
bool reaches(const Driver& driver, gpuDevice device, gpuDevice peer) {
  int can = 0;
  return driver.ownDeviceCanAccessPeer != nullptr &&
         driver.ownDeviceCanAccessPeer(&can, device, peer) == 0 && can != 0;
}

/// "gfx942": as Linux' driver says it of the device (vendor/hip_system.cpp); made up from the version's
/// digits where it says nothing.
std::string architecture_of(int index, int major, int minor);
/// As in vendor/cuda.h. Always 0 (unknown): this backend has not been tested on AMD hardware.
inline int f32_lanes(const std::string& /*architecture*/) { return 0; }

/// HBM3 makes four transfers for each clock cycle that the runtime reports, older memory two.
inline double transfers_per_clock(const std::string& architecture) {
  return architecture.rfind("gfx94", 0) == 0 || architecture.rfind("gfx95", 0) == 0 ? 4 : 2;
}
/// MI300's and later ones' cache behind L2, in bytes, which the runtime does not tell of.
inline std::int64_t outer_cache(const std::string& architecture) {
  return transfers_per_clock(architecture) == 4 ? std::int64_t{256} << 20 : 0;
}

/// The runtime does not tell a kernel's arguments.
template <typename Driver>
bool argument_place(const Driver& /*driver*/, gpuFunction /*function*/, std::size_t /*index*/,
                    std::size_t* /*offset*/, std::size_t* /*size*/, bool* known) {
  return *known = false;
}

/// All shared memory that there is may be asked for at once.
template <typename Driver>
gpuResult allow_shared_bytes(const Driver& /*driver*/, gpuFunction /*function*/,
                             unsigned /*bytes*/) {
  return 0;
}

/// There is no such choice, and there are no clusters.
template <typename Driver>
gpuResult prefer_shared(const Driver& /*driver*/, gpuFunction /*function*/, int /*percent*/) {
  return 0;
}
template <typename Driver>
gpuResult allow_large_clusters(const Driver& /*driver*/, gpuFunction /*function*/) {
  return 0;
}

template <typename Driver>
const char* error_name(const Driver& driver, gpuResult result) {
  return driver.ownGetErrorName(result);
}
template <typename Driver>
const char* error_text(const Driver& driver, gpuResult result) {
  return driver.ownGetErrorString(result);
}

}  // namespace hone_gpu
