// Compiling is the test: the recording driver's own declarations agree with the vendor's headers.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>

#include "record/driver/device.hpp"
#include "record/driver/types.hpp"
#include "record/runtime/types.hpp"

namespace hone::record {

#if CUDART_VERSION >= 13000 && CUDART_VERSION < 14000
static_assert(sizeof(DeviceProperties) == sizeof(cudaDeviceProp));
static_assert(offsetof(DeviceProperties, multiprocessors) ==
              offsetof(cudaDeviceProp, multiProcessorCount));
static_assert(offsetof(DeviceProperties, surface_alignment) ==
              offsetof(cudaDeviceProp, surfaceAlignment));
static_assert(offsetof(DeviceProperties, shared_bytes_max) ==
              offsetof(cudaDeviceProp, sharedMemPerBlockOptin));
static_assert(offsetof(DeviceProperties, shared_bytes_reserved) ==
              offsetof(cudaDeviceProp, reservedSharedMemPerBlock));
static_assert(offsetof(DeviceProperties, clusters) == offsetof(cudaDeviceProp, clusterLaunch));
static_assert(offsetof(DeviceProperties, cooperative) ==
              offsetof(cudaDeviceProp, cooperativeLaunch));
static_assert(sizeof(FunctionAttributes) == sizeof(cudaFuncAttributes));
static_assert(offsetof(FunctionAttributes, nonportable_clusters) ==
              offsetof(cudaFuncAttributes, nonPortableClusterSizeAllowed));
#endif
static_assert(sizeof(PointerAttributes) == sizeof(cudaPointerAttributes));
static_assert(sizeof(LaunchConfig) == sizeof(CUlaunchConfig));
static_assert(sizeof(LaunchAttribute) == sizeof(CUlaunchAttribute));
static_assert(sizeof(RuntimeLaunchConfig) == sizeof(cudaLaunchConfig_t));
static_assert(sizeof(Copy2D) == sizeof(CUDA_MEMCPY2D));
static_assert(sizeof(Copy3D) == sizeof(CUDA_MEMCPY3D));
static_assert(kTensorMapBytes == sizeof(CUtensorMap));
static_assert(int{kClusters} == int{CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH});
static_assert(int{kSharedBytesMax} == int{CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN});
static_assert(int{kPointerMapped} == int{CU_POINTER_ATTRIBUTE_MAPPED});
static_assert(int{kFunctionNonportableClusters} ==
              int{CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED});
static_assert(int{kLaunchCarveout} == int{CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT});

}  // namespace hone::record
