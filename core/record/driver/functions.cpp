// Kernels: their attributes and occupancy.
#include <algorithm>

#include "record/driver/api.hpp"
#include "record/plan/occupancy.hpp"

namespace {

using namespace hone::record;  // NOLINT: functions of C cannot stand in a namespace

constexpr int kWarpSize = 32, kClusterMax = 8;

template <typename Fn>
int with_function(FunctionHandle handle, Fn&& use) {
  return guarded([&](Recording& r) -> int {
    Function* const function = r.images.function(handle);
    return function == nullptr ? kInvalidHandle : use(r, *function);
  });
}

int attribute_of(const Recording& r, const Function& function, int attribute) {
  const CubinKernel& kernel = *function.kernel;
  switch (attribute) {
    case kFunctionBlockThreads:
      return static_cast<int>(kernel.block_threads_max);
    case kFunctionSharedStatic:
      return static_cast<int>(kernel.shared_bytes);
    case kFunctionLocal:
      return static_cast<int>(kernel.local_bytes);
    case kFunctionRegisters:
      return static_cast<int>(kernel.registers);
    case kFunctionPtxVersion:
    case kFunctionBinaryVersion:
      return r.device.architecture_number();
    case kFunctionSharedDynamicMax:
      return dynamic_shared_max(function, r.device);
    case kFunctionCarveout:
      return function.carveout;
    case kFunctionNonportableClusters:
      return function.nonportable_clusters ? 1 : 0;
    default:
      return 0;
  }
}

/// Rationale: programs ask for newer attributes, and do without one if the driver does not know it.
bool is_known(int attribute) { return attribute >= 0 && attribute <= kFunctionClusterPolicy; }

int set_attribute(const Recording& r, Function& function, int attribute, int value) {
  if (attribute == kFunctionSharedDynamicMax) {
    const int limit =
        r.device.attribute(kSharedBytesMax) - static_cast<int>(function.kernel->shared_bytes);
    if (value < 0 || value > limit) return kInvalidValue;
    function.shared_bytes_max = value;
  } else if (attribute == kFunctionCarveout) {
    if (value < -1 || value > 100) return kInvalidValue;
    function.carveout = value;
  } else if (attribute == kFunctionNonportableClusters) {
    function.nonportable_clusters = value != 0;
  } else if (attribute != kFunctionClusterPolicy) {
    return kInvalidValue;
  }
  return kOk;
}

int blocks_of(const Recording& r, const Function& function, const LaunchConfig& config) {
  const unsigned threads = config.block[0] * config.block[1] * config.block[2];
  return blocks_per_multiprocessor(function, r.device, static_cast<int>(std::min(threads, 4096u)),
                                   config.shared_bytes);
}

int cluster_of(const LaunchConfig& config) {
  for (unsigned i = 0; i < config.attribute_count; ++i) {
    const auto& [id, pad, value] = config.attributes[i];
    if (id == kLaunchClusterDimension)
      return std::max(static_cast<int>(value.cluster[0] * value.cluster[1] * value.cluster[2]), 1);
  }
  return 1;
}

}  // namespace

HONE_RECORD_API int cuFuncGetAttribute(int* value, int attribute, FunctionHandle handle) {
  return with_function(handle, [&](Recording& r, Function& function) {
    if (!is_known(attribute)) return kInvalidValue;
    *value = attribute_of(r, function, attribute);
    return kOk;
  });
}
HONE_RECORD_API int cuKernelGetAttribute(int* value, int attribute, FunctionHandle handle, int) {
  return cuFuncGetAttribute(value, attribute, handle);
}
HONE_RECORD_API int cuFuncSetAttribute(FunctionHandle handle, int attribute, int value) {
  return with_function(handle, [&](Recording& r, Function& function) {
    return set_attribute(r, function, attribute, value);
  });
}
HONE_RECORD_API int cuKernelSetAttribute(int attribute, int value, FunctionHandle handle, int) {
  return cuFuncSetAttribute(handle, attribute, value);
}
HONE_RECORD_API int cuFuncSetCacheConfig(FunctionHandle, int) { return kOk; }
HONE_RECORD_API int cuKernelSetCacheConfig(FunctionHandle, int, int) { return kOk; }
HONE_RECORD_API int cuFuncSetSharedMemConfig(FunctionHandle, int) { return kOk; }
HONE_RECORD_API int cuFuncGetModule(ModuleHandle* module, FunctionHandle handle) {
  return with_function(handle, [&](Recording&, Function& function) {
    *module = function.image;
    return kOk;
  });
}
HONE_RECORD_API int cuKernelGetLibrary(ModuleHandle* library, FunctionHandle handle) {
  return cuFuncGetModule(library, handle);
}
HONE_RECORD_API int cuFuncGetName(const char** name, FunctionHandle handle) {
  return with_function(handle, [&](Recording&, Function& function) {
    *name = function.name.c_str();
    return kOk;
  });
}
HONE_RECORD_API int cuKernelGetName(const char** name, FunctionHandle handle) {
  return cuFuncGetName(name, handle);
}
HONE_RECORD_API int cuFuncGetParamInfo(FunctionHandle handle, std::size_t index,
                                       std::size_t* offset, std::size_t* bytes) {
  return with_function(handle, [&](Recording&, Function& function) {
    if (index >= function.kernel->parameters.size()) return kInvalidValue;
    const Parameter& parameter = function.kernel->parameters[index];
    if (offset != nullptr) *offset = parameter.offset;
    if (bytes != nullptr) *bytes = parameter.bytes;
    return kOk;
  });
}
HONE_RECORD_API int cuKernelGetParamInfo(FunctionHandle handle, std::size_t index,
                                         std::size_t* offset, std::size_t* bytes) {
  return cuFuncGetParamInfo(handle, index, offset, bytes);
}
HONE_RECORD_API int cuFuncIsLoaded(int* state, FunctionHandle) {
  *state = 1;
  return kOk;
}
HONE_RECORD_API int cuFuncLoad(FunctionHandle) { return kOk; }

HONE_RECORD_API int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, FunctionHandle handle,
                                                                int threads,
                                                                std::size_t shared_bytes) {
  return with_function(handle, [&](Recording& r, Function& function) {
    *blocks = blocks_per_multiprocessor(function, r.device, threads, shared_bytes);
    return kOk;
  });
}
HONE_RECORD_API int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, FunctionHandle handle, int threads, std::size_t shared_bytes, unsigned) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, handle, threads, shared_bytes);
}
HONE_RECORD_API int cuOccupancyMaxPotentialBlockSize(int* grid, int* block, FunctionHandle handle,
                                                     std::size_t (*shared_of)(int),
                                                     std::size_t shared_bytes, int limit) {
  return with_function(handle, [&](Recording& r, Function& function) {
    int most_threads = 0;
    for (int threads = static_cast<int>(function.kernel->block_threads_max); threads >= kWarpSize;
         threads -= kWarpSize) {
      if (limit > 0 && threads > limit) continue;
      const std::size_t shared = shared_of != nullptr ? shared_of(threads) : shared_bytes;
      const int blocks = blocks_per_multiprocessor(function, r.device, threads, shared);
      if (blocks * threads <= most_threads) continue;
      most_threads = blocks * threads;
      *block = threads;
      *grid = blocks * r.device.attribute(kMultiprocessors);
    }
    return most_threads > 0 ? kOk : kInvalidValue;
  });
}
HONE_RECORD_API int cuOccupancyMaxActiveClusters(int* clusters, FunctionHandle handle,
                                                 const LaunchConfig* config) {
  return with_function(handle, [&](Recording& r, Function& function) {
    *clusters = r.device.attribute(kMultiprocessors) / cluster_of(*config) *
                blocks_of(r, function, *config);
    return kOk;
  });
}
HONE_RECORD_API int cuOccupancyMaxPotentialClusterSize(int* size, FunctionHandle handle,
                                                       const LaunchConfig*) {
  return with_function(handle, [&](Recording&, Function& function) {
    *size = function.nonportable_clusters ? 2 * kClusterMax : kClusterMax;
    return kOk;
  });
}
HONE_RECORD_API int cuOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes,
                                                            FunctionHandle handle, int blocks,
                                                            int) {
  return with_function(handle, [&](Recording& r, Function& function) {
    if (blocks <= 0) return kInvalidValue;
    const int used =
        r.device.attribute(kSharedBytesReserved) + static_cast<int>(function.kernel->shared_bytes);
    const int share = r.device.attribute(kMultiprocessorSharedBytes) / blocks - used;
    *bytes = static_cast<std::size_t>(std::max(share, 0));
    return kOk;
  });
}
