// Devices, limits, errors, streams and events.
#include <array>
#include <cstddef>

#include "shim.hpp"

namespace hone_shim {
namespace {

/// ROCm 6.4: its import of memory takes the descriptor by address.
constexpr int kVersion = 60443483;
constexpr int kDevicesMax = 64;

struct ErrorText {
  hipError_t code;
  const char* name;
  const char* text;
};
constexpr ErrorText kErrors[] = {
    {hipSuccess, "hipSuccess", "no error"},
    {hipErrorInvalidValue, "hipErrorInvalidValue", "invalid argument"},
    {hipErrorOutOfMemory, "hipErrorOutOfMemory", "out of memory"},
    {hipErrorNotInitialized, "hipErrorNotInitialized", "initialization error"},
    {hipErrorInvalidDevice, "hipErrorInvalidDevice", "invalid device ordinal"},
    {hipErrorInvalidImage, "hipErrorInvalidImage", "device kernel image is invalid"},
    {hipErrorInvalidContext, "hipErrorInvalidContext", "invalid device context"},
    {hipErrorUnsupportedLimit, "hipErrorUnsupportedLimit",
     "limit is not supported on this architecture"},
    {hipErrorSharedObjectInitFailed, "hipErrorSharedObjectInitFailed",
     "shared object initialization failed"},
    {hipErrorOperatingSystem, "hipErrorOperatingSystem",
     "OS call failed or operation not supported on this OS"},
    {hipErrorInvalidHandle, "hipErrorInvalidHandle", "invalid resource handle"},
    {hipErrorNotFound, "hipErrorNotFound", "named symbol not found"},
    {hipErrorNotReady, "hipErrorNotReady", "device not ready"},
    {hipErrorIllegalAddress, "hipErrorIllegalAddress", "an illegal memory access was encountered"},
    {hipErrorLaunchOutOfResources, "hipErrorLaunchOutOfResources",
     "out of resources required to execute this kernel"},
    {hipErrorLaunchTimeOut, "hipErrorLaunchTimeOut", "the launch timed out and was terminated"},
    {hipErrorAssert, "hipErrorAssert", "device-side assert triggered"},
    {hipErrorLaunchFailure, "hipErrorLaunchFailure", "unspecified launch failure"},
    {hipErrorCooperativeLaunchTooLarge, "hipErrorCooperativeLaunchTooLarge",
     "too many blocks in cooperative launch"},
    {hipErrorNotSupported, "hipErrorNotSupported", "operation not supported"},
};
constexpr ErrorText kUnknown = {hipErrorUnknown, "hipErrorUnknown", "unknown error"};

const ErrorText& text_of(hipError_t code) {
  for (const ErrorText& error : kErrors) {
    if (error.code == code) return error;
  }
  return kUnknown;
}

struct Attribute {
  int hip;
  CUdevice_attribute cuda;
};
constexpr Attribute kAttributes[] = {
    {5, CU_DEVICE_ATTRIBUTE_CLOCK_RATE},
    {10, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH},
    {19, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE},
    {23, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR},
    {26, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X},
    {27, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y},
    {28, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z},
    {29, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X},
    {30, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y},
    {31, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z},
    {56, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
    {57, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR},
    {58, CU_DEVICE_ATTRIBUTE_MAX_PITCH},
    {59, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH},
    {60, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE},
    {61, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR},
    {63, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
    {65, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS},
    {67, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID},
    {68, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID},
    {69, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID},
    // AMD's devices grant all of it without being asked first, and so does the shim's launch.
    {74, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN},
    {87, CU_DEVICE_ATTRIBUTE_WARP_SIZE},
    {89, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED},
};

thread_local int t_device = 0;                    // what hipSetDevice chose
thread_local int t_current = -1;                  // whose context is current
std::array<CUcontext, kDevicesMax> g_contexts{};  // never released: HIP's context of a device lasts

CUresult make_current(int device) {
  if (device < 0 || device >= kDevicesMax) return CUDA_ERROR_INVALID_DEVICE;
  CUcontext& context = g_contexts[static_cast<std::size_t>(device)];
  if (context == nullptr) {
    CUdevice handle = 0;
    CUresult result = cuda().cuDeviceGet(&handle, device);
    if (result == CUDA_SUCCESS) result = cuda().cuDevicePrimaryCtxRetain(&context, handle);
    if (result != CUDA_SUCCESS) return result;
  }
  const CUresult result = cuda().cuCtxSetCurrent(context);
  if (result == CUDA_SUCCESS) t_current = device;
  return result;
}

}  // namespace

hipError_t as_hip(CUresult result) {
  switch (result) {
    // What HIP has no word for: a kernel that broke off.
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case 717:  // CUDA_ERROR_INVALID_ADDRESS_SPACE
    case 718:  // CUDA_ERROR_INVALID_PC
      return hipErrorLaunchFailure;
    case CUDA_ERROR_INVALID_CLUSTER_SIZE:
      return hipErrorInvalidValue;
    default:
      return result;
  }
}

hipError_t use_device() {
  if (cuda().missing != nullptr) return hipErrorNotInitialized;
  return t_current == t_device ? hipSuccess : as_hip(make_current(t_device));
}

}  // namespace hone_shim

using namespace hone_shim;

// NOLINTBEGIN(readability-identifier-naming): HIP's names.
hipError_t hipInit(unsigned flags) {
  return on_driver([&](const CudaDriver& driver) { return driver.cuInit(flags); });
}

hipError_t hipDriverGetVersion(int* version) {
  if (version == nullptr) return hipErrorInvalidValue;
  *version = kVersion;
  return hipSuccess;
}

hipError_t hipGetDeviceCount(int* count) {
  return on_driver([&](const CudaDriver& driver) { return driver.cuDeviceGetCount(count); });
}

hipError_t hipDeviceGet(hipDevice_t* device, int ordinal) {
  return on_driver([&](const CudaDriver& driver) { return driver.cuDeviceGet(device, ordinal); });
}

hipError_t hipDeviceGetName(char* name, int size, hipDevice_t device) {
  return on_driver(
      [&](const CudaDriver& driver) { return driver.cuDeviceGetName(name, size, device); });
}

hipError_t hipDeviceGetAttribute(int* value, int attribute, hipDevice_t device) {
  for (const Attribute& known : kAttributes) {
    if (known.hip != attribute) continue;
    return on_driver([&](const CudaDriver& driver) {
      return driver.cuDeviceGetAttribute(value, known.cuda, device);
    });
  }
  return hipErrorInvalidValue;
}

hipError_t hipDeviceTotalMem(std::size_t* bytes, hipDevice_t device) {
  return on_driver(
      [&](const CudaDriver& driver) { return driver.cuDeviceTotalMem_v2(bytes, device); });
}

hipError_t hipSetDevice(int device) {
  return on_driver([&](const CudaDriver&) {
    const CUresult result = make_current(device);
    if (result == CUDA_SUCCESS) t_device = device;
    return result;
  });
}

hipError_t hipSetDeviceFlags(unsigned flags) {
  constexpr unsigned kSchedules = 7;
  return on_device([&](const CudaDriver& driver) {
    return driver.cuDevicePrimaryCtxSetFlags_v2(t_device, flags & kSchedules);
  });
}

hipError_t hipDeviceSetLimit(int limit, std::size_t value) {
  return on_device([&](const CudaDriver& driver) {
    return driver.cuCtxSetLimit(static_cast<CUlimit>(limit), value);
  });
}

hipError_t hipDeviceSynchronize() {
  return on_device([](const CudaDriver& driver) { return driver.cuCtxSynchronize(); });
}

const char* hipGetErrorName(hipError_t error) { return text_of(error).name; }
const char* hipGetErrorString(hipError_t error) { return text_of(error).text; }

hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags) {
  return on_device([&](const CudaDriver& driver) {
    return driver.cuStreamCreate(reinterpret_cast<CUstream*>(stream), flags);
  });
}

hipError_t hipStreamDestroy(hipStream_t stream) {
  return on_device(
      [&](const CudaDriver& driver) { return driver.cuStreamDestroy_v2(stream_of(stream)); });
}

hipError_t hipStreamSynchronize(hipStream_t stream) {
  return on_device(
      [&](const CudaDriver& driver) { return driver.cuStreamSynchronize(stream_of(stream)); });
}

hipError_t hipStreamQuery(hipStream_t stream) {
  return on_device(
      [&](const CudaDriver& driver) { return driver.cuStreamQuery(stream_of(stream)); });
}

hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags) {
  return on_device([&](const CudaDriver& driver) {
    return driver.cuStreamWaitEvent(stream_of(stream), reinterpret_cast<CUevent>(event), flags);
  });
}

hipError_t hipStreamBeginCapture(hipStream_t stream, int mode) {
  return on_device([&](const CudaDriver& driver) {
    return driver.cuStreamBeginCapture_v2(stream_of(stream), mode);
  });
}

hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph) {
  return on_device([&](const CudaDriver& driver) {
    return driver.cuStreamEndCapture(stream_of(stream), reinterpret_cast<CUgraph*>(graph));
  });
}

hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t* out, hipGraph_t graph,
                                        unsigned long long flags) {
  return on_device([&](const CudaDriver& driver) {
    return driver.cuGraphInstantiateWithFlags(reinterpret_cast<CUgraphExec*>(out),
                                              reinterpret_cast<CUgraph>(graph), flags);
  });
}

hipError_t hipGraphLaunch(hipGraphExec_t graph, hipStream_t stream) {
  return on_device([&](const CudaDriver& driver) {
    return driver.cuGraphLaunch(reinterpret_cast<CUgraphExec>(graph), stream_of(stream));
  });
}

hipError_t hipGraphExecDestroy(hipGraphExec_t graph) {
  return on_device([&](const CudaDriver& driver) {
    return driver.cuGraphExecDestroy(reinterpret_cast<CUgraphExec>(graph));
  });
}

hipError_t hipGraphDestroy(hipGraph_t graph) {
  return on_device([&](const CudaDriver& driver) {
    return driver.cuGraphDestroy(reinterpret_cast<CUgraph>(graph));
  });
}

hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags) {
  return on_device([&](const CudaDriver& driver) {
    return driver.cuEventCreate(reinterpret_cast<CUevent*>(event), flags);
  });
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  return on_device([&](const CudaDriver& driver) {
    return driver.cuEventRecord(reinterpret_cast<CUevent>(event), stream_of(stream));
  });
}

hipError_t hipEventSynchronize(hipEvent_t event) {
  return on_device([&](const CudaDriver& driver) {
    return driver.cuEventSynchronize(reinterpret_cast<CUevent>(event));
  });
}

hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t end) {
  return on_device([&](const CudaDriver& driver) {
    return driver.cuEventElapsedTime_v2(milliseconds, reinterpret_cast<CUevent>(start),
                                        reinterpret_cast<CUevent>(end));
  });
}

hipError_t hipEventDestroy(hipEvent_t event) {
  return on_device([&](const CudaDriver& driver) {
    return driver.cuEventDestroy_v2(reinterpret_cast<CUevent>(event));
  });
}
// NOLINTEND(readability-identifier-naming)
