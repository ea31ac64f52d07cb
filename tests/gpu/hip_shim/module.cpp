// Modules and launches.
#include <algorithm>

#include "shim.hpp"

namespace hone_shim {
namespace {

CUfunction function_of(hipFunction_t function) { return reinterpret_cast<CUfunction>(function); }

/// CUDA wants to be asked for more shared memory than this; HIP does not.
constexpr unsigned kSharedBytesUnasked = 48 << 10;

CUresult launch(const CudaDriver& driver, hipFunction_t function, const CUlaunchConfig& config,
                void** arguments, void** extra = nullptr) {
  if (config.sharedMemBytes > kSharedBytesUnasked) {
    const CUresult granted = driver.cuFuncSetAttribute(
        function_of(function), CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
        static_cast<int>(config.sharedMemBytes));
    if (granted != CUDA_SUCCESS) return granted;
  }
  return driver.cuLaunchKernelEx(&config, function_of(function), arguments, extra);
}

}  // namespace
}  // namespace hone_shim

using namespace hone_shim;

// NOLINTBEGIN(readability-identifier-naming): HIP's names.
hipError_t hipModuleLoadData(hipModule_t* module, const void* image) {
  return on_device([&](const CudaDriver& driver) {
    return driver.cuModuleLoadData(reinterpret_cast<CUmodule*>(module), image);
  });
}

hipError_t hipModuleUnload(hipModule_t module) {
  return on_device([&](const CudaDriver& driver) {
    return driver.cuModuleUnload(reinterpret_cast<CUmodule>(module));
  });
}

hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module, const char* name) {
  return on_device([&](const CudaDriver& driver) {
    return driver.cuModuleGetFunction(reinterpret_cast<CUfunction*>(function),
                                      reinterpret_cast<CUmodule>(module), name);
  });
}

hipError_t hipModuleGetGlobal(void** out, std::size_t* bytes, hipModule_t module,
                              const char* name) {
  return on_device([&](const CudaDriver& driver) {
    return driver.cuModuleGetGlobal_v2(reinterpret_cast<CUdeviceptr*>(out), bytes,
                                       reinterpret_cast<CUmodule>(module), name);
  });
}

hipError_t hipFuncGetAttribute(int* value, int attribute, hipFunction_t function) {
  return on_device([&](const CudaDriver& driver) {  // numbered as CUDA's
    return driver.cuFuncGetAttribute(value, static_cast<CUfunction_attribute>(attribute),
                                     function_of(function));
  });
}

hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned grid_x, unsigned grid_y,
                                 unsigned grid_z, unsigned block_x, unsigned block_y,
                                 unsigned block_z, unsigned shared_bytes, hipStream_t stream,
                                 void** arguments, void** extra) {
  // As HIP has it: a pointer and a size under CUDA's numbers, and an end of its own.
  constexpr std::uintptr_t kEnd = 3;
  void* packed[5] = {};
  if (extra != nullptr) {
    std::copy_n(extra, 4, packed);
    if (reinterpret_cast<std::uintptr_t>(extra[4]) != kEnd) return hipErrorInvalidValue;
  }
  const CUlaunchConfig config{grid_x,  grid_y,  grid_z,       block_x,
                              block_y, block_z, shared_bytes, stream_of(stream),
                              nullptr, 0};
  return on_device([&](const CudaDriver& driver) {
    return launch(driver, function, config, arguments, extra != nullptr ? packed : nullptr);
  });
}

hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t function, unsigned grid_x,
                                            unsigned grid_y, unsigned grid_z, unsigned block_x,
                                            unsigned block_y, unsigned block_z,
                                            unsigned shared_bytes, hipStream_t stream,
                                            void** arguments) {
  CUlaunchAttribute cooperative{};
  cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  cooperative.value.cooperative = 1;
  const CUlaunchConfig config{grid_x,       grid_y,  grid_z,       block_x,
                              block_y,      block_z, shared_bytes, stream_of(stream),
                              &cooperative, 1};
  return on_device(
      [&](const CudaDriver& driver) { return launch(driver, function, config, arguments); });
}
// NOLINTEND(readability-identifier-naming)
