// The runtime's functions for launches and for attributes of kernels.
#include <algorithm>
#include <cstring>
#include <vector>

#include "record/runtime/driver_calls.hpp"

namespace {

using namespace hone::record;  // NOLINT: functions of C cannot stand in a namespace

/// The launch configuration that <<<>>> pushes for the host function that it calls.
struct CallConfiguration {
  Dim3 grid, block;
  std::size_t shared_bytes;
  StreamHandle stream;
};
thread_local std::vector<CallConfiguration> g_configurations;

LaunchConfig driver_config(const RuntimeLaunchConfig& config) {
  LaunchConfig result{};
  result.grid[0] = config.grid.x, result.grid[1] = config.grid.y, result.grid[2] = config.grid.z;
  result.block[0] = config.block.x, result.block[1] = config.block.y;
  result.block[2] = config.block.z;
  result.shared_bytes = static_cast<unsigned>(std::min<std::size_t>(config.shared_bytes, ~0u));
  result.stream = config.stream;
  result.attributes = config.attributes;
  result.attribute_count = config.attribute_count;
  return result;
}

/// Calls `use` with the driver's handle of a kernel.
template <typename Fn>
int with_kernel(const void* kernel, Fn&& use) {
  FunctionHandle function = nullptr;
  if (const int status = resolve(kernel, &function); status != kOk) return answered(status);
  return answered(use(function));
}

int attribute_of(FunctionHandle function, int attribute) {
  int value = 0;
  cuFuncGetAttribute(&value, attribute, function);
  return value;
}

std::size_t bytes_of(FunctionHandle function, int attribute) {
  return static_cast<std::size_t>(attribute_of(function, attribute));
}

}  // namespace

HONE_RECORD_API unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block,
                                                     std::size_t shared_bytes, void* stream) {
  g_configurations.push_back({grid, block, shared_bytes, stream});
  return 0;
}
HONE_RECORD_API int __cudaPopCallConfiguration(Dim3* grid, Dim3* block, std::size_t* shared_bytes,
                                               void* stream) {
  if (g_configurations.empty()) return answered(kInvalidValue);
  const CallConfiguration last = g_configurations.back();
  g_configurations.pop_back();
  *grid = last.grid;
  *block = last.block;
  *shared_bytes = last.shared_bytes;
  std::memcpy(stream, &last.stream, sizeof last.stream);
  return kOk;
}
/// Rationale: returns the host function's address as the handle, so that an image is loaded only at a launch.
HONE_RECORD_API int __cudaGetKernel(void** kernel, const void* host) {
  *kernel = const_cast<void*>(host);
  return kOk;
}
HONE_RECORD_API int cudaGetKernel(void** kernel, const void* host) {
  return __cudaGetKernel(kernel, host);
}
HONE_RECORD_API int cudaGetFuncBySymbol(void** function, const void* host) {
  return answered(resolve(host, function));
}

HONE_RECORD_API int cudaLaunchKernel(const void* kernel, Dim3 grid, Dim3 block, void** parameters,
                                     std::size_t shared_bytes, StreamHandle stream) {
  const RuntimeLaunchConfig config{grid, block, shared_bytes, stream, nullptr, 0};
  return with_kernel(kernel, [&](FunctionHandle function) {
    const LaunchConfig launch = driver_config(config);
    return cuLaunchKernelEx(&launch, function, parameters, nullptr);
  });
}
HONE_RECORD_API int __cudaLaunchKernel(void* kernel, Dim3 grid, Dim3 block, void** parameters,
                                       std::size_t shared_bytes, StreamHandle stream) {
  return cudaLaunchKernel(kernel, grid, block, parameters, shared_bytes, stream);
}
HONE_RECORD_API int cudaLaunchCooperativeKernel(const void* kernel, Dim3 grid, Dim3 block,
                                                void** parameters, std::size_t shared_bytes,
                                                StreamHandle stream) {
  return with_kernel(kernel, [&](FunctionHandle function) {
    return cuLaunchCooperativeKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                     static_cast<unsigned>(shared_bytes), stream, parameters);
  });
}
HONE_RECORD_API int cudaLaunchKernelExC(const RuntimeLaunchConfig* config, const void* kernel,
                                        void** parameters) {
  return with_kernel(kernel, [&](FunctionHandle function) {
    const LaunchConfig launch = driver_config(*config);
    return cuLaunchKernelEx(&launch, function, parameters, nullptr);
  });
}

HONE_RECORD_API int cudaFuncGetAttributes(FunctionAttributes* out, const void* kernel) {
  return with_kernel(kernel, [&](FunctionHandle function) -> int {
    *out = {};
    out->shared_bytes = bytes_of(function, kFunctionSharedStatic);
    out->constant_bytes = bytes_of(function, kFunctionConstant);
    out->local_bytes = bytes_of(function, kFunctionLocal);
    out->block_threads_max = attribute_of(function, kFunctionBlockThreads);
    out->registers = attribute_of(function, kFunctionRegisters);
    out->ptx_version = attribute_of(function, kFunctionPtxVersion);
    out->binary_version = attribute_of(function, kFunctionBinaryVersion);
    out->shared_dynamic_max = attribute_of(function, kFunctionSharedDynamicMax);
    out->carveout = attribute_of(function, kFunctionCarveout);
    out->nonportable_clusters = attribute_of(function, kFunctionNonportableClusters);
    return kOk;
  });
}
HONE_RECORD_API int cudaFuncSetAttribute(const void* kernel, int attribute, int value) {
  return with_kernel(kernel, [&](FunctionHandle function) {
    return cuFuncSetAttribute(function, attribute, value);
  });
}
HONE_RECORD_API int cudaFuncSetCacheConfig(const void*, int) { return kOk; }
HONE_RECORD_API int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* kernel, int threads, std::size_t shared_bytes, unsigned flags) {
  return with_kernel(kernel, [&](FunctionHandle function) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads,
                                                                shared_bytes, flags);
  });
}
HONE_RECORD_API int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel,
                                                                  int threads,
                                                                  std::size_t shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, kernel, threads,
                                                                shared_bytes, 0);
}
HONE_RECORD_API int cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes,
                                                              const void* kernel, int blocks,
                                                              int threads) {
  return with_kernel(kernel, [&](FunctionHandle function) {
    return cuOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, threads);
  });
}
HONE_RECORD_API int cudaOccupancyMaxActiveClusters(int* clusters, const void* kernel,
                                                   const RuntimeLaunchConfig* config) {
  return with_kernel(kernel, [&](FunctionHandle function) {
    const LaunchConfig launch = driver_config(*config);
    return cuOccupancyMaxActiveClusters(clusters, function, &launch);
  });
}
HONE_RECORD_API int cudaOccupancyMaxPotentialClusterSize(int* size, const void* kernel,
                                                         const RuntimeLaunchConfig* config) {
  return with_kernel(kernel, [&](FunctionHandle function) {
    const LaunchConfig launch = driver_config(*config);
    return cuOccupancyMaxPotentialClusterSize(size, function, &launch);
  });
}
