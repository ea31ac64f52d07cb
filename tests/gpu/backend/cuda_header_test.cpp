// Compiling is the test: declarations in vendor/cuda.h match CUDA's own header.
#include <cuda.h>

#include <type_traits>

#include "vendor/cuda.h"

namespace hone_gpu {
namespace {

static_assert(kMemoryPinned == CU_MEM_ALLOCATION_TYPE_PINNED);
static_assert(kMemoryOfDevice == CU_MEM_LOCATION_TYPE_DEVICE);
static_assert(kHandlePosix == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
static_assert(kAccessReadWrite == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
static_assert(kGranularityMinimum == CU_MEM_ALLOC_GRANULARITY_MINIMUM);
static_assert(kCopyHost == CU_MEMORYTYPE_HOST);
static_assert(kCopyDevice == CU_MEMORYTYPE_DEVICE);
static_assert(kLaunchCooperative == CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
static_assert(kLaunchCluster == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
static_assert(kContextSpin == CU_CTX_SCHED_SPIN);
static_assert(kStreamNonBlocking == CU_STREAM_NON_BLOCKING);
static_assert(kLimitPrintf == CU_LIMIT_PRINTF_FIFO_SIZE);
static_assert(kLimitHeap == CU_LIMIT_MALLOC_HEAP_SIZE);
static_assert(kFunctionSharedStatic == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
static_assert(kFunctionSharedDynamicMax == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
static_assert(kDeviceBlockThreads == CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
static_assert(kDeviceBlockX == CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
static_assert(kDeviceBlockY == CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y);
static_assert(kDeviceBlockZ == CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
static_assert(kDeviceGridX == CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
static_assert(kDeviceGridY == CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
static_assert(kDeviceGridZ == CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
static_assert(kDevicePitchMax == CU_DEVICE_ATTRIBUTE_MAX_PITCH);
static_assert(kDeviceClockKhz == CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
static_assert(kDeviceMultiprocessors == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
static_assert(kDevicePciBus == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID);
static_assert(kDevicePciDevice == CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID);
static_assert(kDevicePciDomain == CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID);
static_assert(kDeviceMemoryClockKhz == CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
static_assert(kDeviceMemoryBusBits == CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
static_assert(kDeviceCacheBytes == CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
static_assert(kDeviceMajor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(kDeviceMinor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(kDeviceCooperative == CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH);
static_assert(kDevicePageableMemory == CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS);
static_assert(kDeviceSharedBytes == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
static_assert(kDeviceMemoryMaps == CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED);
static_assert(kDeviceClusters == CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH);
static_assert(kLaunchOverlaps == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
static_assert(kCaptureRelaxed == CU_STREAM_CAPTURE_MODE_RELAXED);
static_assert(kEventNoTiming == CU_EVENT_DISABLE_TIMING);
static_assert(kFunctionSharedCarveout == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
static_assert(kFunctionLargeClusters == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
static_assert(sizeof(CUtensorMap) == 128);  // toolkits differ in its alignment

// The numbers in errors.cpp, which both vendors share.
static_assert(CUDA_ERROR_INVALID_VALUE == 1 && CUDA_ERROR_OUT_OF_MEMORY == 2);
static_assert(CUDA_ERROR_NOT_INITIALIZED == 3 && CUDA_ERROR_DEINITIALIZED == 4);
static_assert(CUDA_ERROR_DEVICE_UNAVAILABLE == 46 && CUDA_ERROR_NO_DEVICE == 100);
static_assert(CUDA_ERROR_INVALID_DEVICE == 101 && CUDA_ERROR_INVALID_IMAGE == 200);
static_assert(CUDA_ERROR_NO_BINARY_FOR_GPU == 209 && CUDA_ERROR_ECC_UNCORRECTABLE == 214);
static_assert(CUDA_ERROR_INVALID_PTX == 218 && CUDA_ERROR_NVLINK_UNCORRECTABLE == 220);
static_assert(CUDA_ERROR_INVALID_SOURCE == 300 && CUDA_ERROR_NOT_FOUND == 500);
static_assert(CUDA_ERROR_ILLEGAL_ADDRESS == 700 && CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES == 701);
static_assert(CUDA_ERROR_LAUNCH_TIMEOUT == 702 && CUDA_ERROR_ASSERT == 710);
static_assert(CUDA_ERROR_HARDWARE_STACK_ERROR == 714 && CUDA_ERROR_ILLEGAL_INSTRUCTION == 715);
static_assert(CUDA_ERROR_MISALIGNED_ADDRESS == 716 && CUDA_ERROR_INVALID_ADDRESS_SPACE == 717);
static_assert(CUDA_ERROR_INVALID_PC == 718 && CUDA_ERROR_LAUNCH_FAILED == 719);
static_assert(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE == 720 && CUDA_ERROR_NOT_SUPPORTED == 801);
static_assert(CUDA_ERROR_SYSTEM_NOT_READY == 802 && CUDA_ERROR_SYSTEM_DRIVER_MISMATCH == 803);
static_assert(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE == 804);
static_assert(CUDA_ERROR_INVALID_CLUSTER_SIZE == 912 && CUDA_ERROR_UNKNOWN == 999);

static_assert(sizeof(gpuAddress) == sizeof(CUdeviceptr));
static_assert(sizeof(gpuMemory) == sizeof(CUmemGenericAllocationHandle));
static_assert(sizeof(gpuAllocation) == sizeof(CUmemAllocationProp));
static_assert(offsetof(gpuAllocation, handle_types) ==
              offsetof(CUmemAllocationProp, requestedHandleTypes));
static_assert(offsetof(gpuAllocation, location) == offsetof(CUmemAllocationProp, location));
static_assert(offsetof(gpuAllocation, flags) == offsetof(CUmemAllocationProp, allocFlags));
static_assert(sizeof(gpuAccess) == sizeof(CUmemAccessDesc));
static_assert(offsetof(gpuAccess, flags) == offsetof(CUmemAccessDesc, flags));
static_assert(sizeof(gpuCopy2D) == sizeof(CUDA_MEMCPY2D));
static_assert(offsetof(gpuCopy2D, from_kind) == offsetof(CUDA_MEMCPY2D, srcMemoryType));
static_assert(offsetof(gpuCopy2D, from_device) == offsetof(CUDA_MEMCPY2D, srcDevice));
static_assert(offsetof(gpuCopy2D, from_pitch) == offsetof(CUDA_MEMCPY2D, srcPitch));
static_assert(offsetof(gpuCopy2D, to_kind) == offsetof(CUDA_MEMCPY2D, dstMemoryType));
static_assert(offsetof(gpuCopy2D, to_host) == offsetof(CUDA_MEMCPY2D, dstHost));
static_assert(offsetof(gpuCopy2D, to_pitch) == offsetof(CUDA_MEMCPY2D, dstPitch));
static_assert(offsetof(gpuCopy2D, width) == offsetof(CUDA_MEMCPY2D, WidthInBytes));
static_assert(offsetof(gpuCopy2D, height) == offsetof(CUDA_MEMCPY2D, Height));
static_assert(sizeof(gpuLaunchAttribute) == sizeof(CUlaunchAttribute));
static_assert(offsetof(gpuLaunchAttribute, value) == offsetof(CUlaunchAttribute, value));
static_assert(sizeof(gpuLaunchConfig) == sizeof(CUlaunchConfig));
static_assert(offsetof(gpuLaunchConfig, block) == offsetof(CUlaunchConfig, blockDimX));
static_assert(offsetof(gpuLaunchConfig, shared_bytes) == offsetof(CUlaunchConfig, sharedMemBytes));
static_assert(offsetof(gpuLaunchConfig, stream) == offsetof(CUlaunchConfig, hStream));
static_assert(offsetof(gpuLaunchConfig, attributes) == offsetof(CUlaunchConfig, attrs));
static_assert(offsetof(gpuLaunchConfig, attribute_count) == offsetof(CUlaunchConfig, numAttrs));

}  // namespace
}  // namespace hone_gpu
