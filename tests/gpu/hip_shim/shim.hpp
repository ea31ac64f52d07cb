// Shared by the parts of the runtime's shim: HIP's current device, and errors.
#pragma once

#include "cuda.hpp"
#include "hip_calls.hpp"

namespace hone_shim {

/// CUDA's code as HIP has it.
hipError_t as_hip(CUresult result);

/// Makes the thread's device current, as HIP does unasked, with its context where there is none yet.
hipError_t use_device();

/// `call` where it needs no device.
template <class Call>
hipError_t on_driver(Call&& call) {
  return cuda().missing == nullptr ? as_hip(call(cuda())) : hipErrorNotInitialized;
}

/// `call` under the thread's device.
template <class Call>
hipError_t on_device(Call&& call) {
  const hipError_t ready = use_device();
  return ready == hipSuccess ? as_hip(call(cuda())) : ready;
}

inline CUdeviceptr address(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }
inline CUstream stream_of(hipStream_t stream) { return reinterpret_cast<CUstream>(stream); }

}  // namespace hone_shim
