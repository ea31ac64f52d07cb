// Compiling is the test: declarations in vendor/hip.h match HIP's own header. Declarations that differ in ROCm 5
// are compared with ROCm 6 and newer only.
#include <hip/hip_runtime_api.h>

#include "vendor/hip.h"

namespace hone_gpu {
namespace {

static_assert(kHandlePosix == hipMemHandleTypePosixFileDescriptor);
static_assert(kAccessReadWrite == hipMemAccessFlagsProtReadWrite);
static_assert(kMemoryOfDevice == hipMemLocationTypeDevice);
static_assert(kGranularityMinimum == hipMemAllocationGranularityMinimum);
static_assert(kContextSpin == hipDeviceScheduleSpin);
static_assert(kStreamNonBlocking == hipStreamNonBlocking);
static_assert(kLimitPrintf == hipLimitPrintfFifoSize);
static_assert(kLimitHeap == hipLimitMallocHeapSize);
static_assert(kFunctionSharedStatic == HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
static_assert(kDeviceBlockThreads == hipDeviceAttributeMaxThreadsPerBlock);
static_assert(kDeviceBlockX == hipDeviceAttributeMaxBlockDimX);
static_assert(kDeviceBlockY == hipDeviceAttributeMaxBlockDimY);
static_assert(kDeviceBlockZ == hipDeviceAttributeMaxBlockDimZ);
static_assert(kDeviceGridX == hipDeviceAttributeMaxGridDimX);
static_assert(kDeviceGridY == hipDeviceAttributeMaxGridDimY);
static_assert(kDeviceGridZ == hipDeviceAttributeMaxGridDimZ);
static_assert(kDevicePitchMax == hipDeviceAttributeMaxPitch);
static_assert(kDeviceClockKhz == hipDeviceAttributeClockRate);
static_assert(kDeviceMultiprocessors == hipDeviceAttributeMultiprocessorCount);
static_assert(kDevicePciBus == hipDeviceAttributePciBusId);
static_assert(kDevicePciDevice == hipDeviceAttributePciDeviceId);
static_assert(kDevicePciDomain == hipDeviceAttributePciDomainID);
static_assert(kDeviceMemoryClockKhz == hipDeviceAttributeMemoryClockRate);
static_assert(kDeviceMemoryBusBits == hipDeviceAttributeMemoryBusWidth);
static_assert(kDeviceCacheBytes == hipDeviceAttributeL2CacheSize);
static_assert(kDeviceMajor == hipDeviceAttributeComputeCapabilityMajor);
static_assert(kDeviceMinor == hipDeviceAttributeComputeCapabilityMinor);
static_assert(kDeviceCooperative == hipDeviceAttributeCooperativeLaunch);
static_assert(kDevicePageableMemory == hipDeviceAttributePageableMemoryAccess);
static_assert(kDeviceSharedBytes == hipDeviceAttributeMaxSharedMemoryPerBlock);
static_assert(kCaptureRelaxed == hipStreamCaptureModeRelaxed);
static_assert(kEventNoTiming == hipEventDisableTiming);

// The numbers in errors.cpp, which both vendors share.
static_assert(hipErrorInvalidValue == 1 && hipErrorOutOfMemory == 2);
static_assert(hipErrorNotInitialized == 3 && hipErrorDeinitialized == 4);
static_assert(hipErrorInvalidConfiguration == 9 && hipErrorInsufficientDriver == 35);
static_assert(hipErrorNoDevice == 100 && hipErrorInvalidDevice == 101);
static_assert(hipErrorInvalidImage == 200 && hipErrorNoBinaryForGpu == 209);
static_assert(hipErrorECCNotCorrectable == 214 && hipErrorInvalidSource == 300);
static_assert(hipErrorNotFound == 500 && hipErrorIllegalAddress == 700);
static_assert(hipErrorLaunchOutOfResources == 701 && hipErrorLaunchTimeOut == 702);
static_assert(hipErrorAssert == 710 && hipErrorLaunchFailure == 719);
static_assert(hipErrorCooperativeLaunchTooLarge == 720 && hipErrorNotSupported == 801);
static_assert(hipErrorUnknown == 999 && hipErrorRuntimeMemory == 1052);
static_assert(hipErrorRuntimeOther == 1053);

static_assert(sizeof(gpuAccess) == sizeof(hipMemAccessDesc));
static_assert(offsetof(gpuAccess, flags) == offsetof(hipMemAccessDesc, flags));
static_assert(sizeof(gpuCopy2D) == sizeof(hip_Memcpy2D));
static_assert(offsetof(gpuCopy2D, from_kind) == offsetof(hip_Memcpy2D, srcMemoryType));
static_assert(offsetof(gpuCopy2D, from_device) == offsetof(hip_Memcpy2D, srcDevice));
static_assert(offsetof(gpuCopy2D, from_pitch) == offsetof(hip_Memcpy2D, srcPitch));
static_assert(offsetof(gpuCopy2D, to_kind) == offsetof(hip_Memcpy2D, dstMemoryType));
static_assert(offsetof(gpuCopy2D, to_host) == offsetof(hip_Memcpy2D, dstHost));
static_assert(offsetof(gpuCopy2D, to_pitch) == offsetof(hip_Memcpy2D, dstPitch));
static_assert(offsetof(gpuCopy2D, height) == offsetof(hip_Memcpy2D, Height));

#if HIP_VERSION_MAJOR >= 6
static_assert(kMemoryPinned == hipMemAllocationTypePinned);
static_assert(kCopyHost == hipMemoryTypeHost);
static_assert(kCopyDevice == hipMemoryTypeDevice);
static_assert(kDeviceMemoryMaps == hipDeviceAttributeVirtualMemoryManagementSupported);
static_assert(sizeof(gpuAllocation) == sizeof(hipMemAllocationProp));
static_assert(offsetof(gpuAllocation, location) == offsetof(hipMemAllocationProp, location));
static_assert(offsetof(gpuAllocation, compression) == offsetof(hipMemAllocationProp, allocFlags));
#endif

}  // namespace
}  // namespace hone_gpu
