// HIP's device code for CUDA's compiler: what hiprtc gives every source without an include.
#define __HIP__ 1
#define __HIPCC__ 1
#define __HIPCC_RTC__ 1
#define __HIP_DEVICE_COMPILE__ 1
#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x blockIdx.x
#define hipBlockIdx_y blockIdx.y
#define hipBlockIdx_z blockIdx.z
#define hipBlockDim_x blockDim.x
#define hipBlockDim_y blockDim.y
#define hipBlockDim_z blockDim.z
#define hipGridDim_x gridDim.x
#define hipGridDim_y gridDim.y
#define hipGridDim_z gridDim.z
#define HIP_DYNAMIC_SHARED(type, variable) extern __shared__ type variable[];
#define __builtin_trap() __trap()
#define abort() __trap()
#define unsafeAtomicAdd atomicAdd
#define wall_clock64 clock64
/* Warps go together: HIP's forms have no mask. Of 32 lanes here, where most of AMD's have 64. Under names of their own,
   as CUDA's compiler still declares functions that it has no more. */
#define __shfl hone_hip_shfl
#define __shfl_up hone_hip_shfl_up
#define __shfl_down hone_hip_shfl_down
#define __shfl_xor hone_hip_shfl_xor
#define __ballot hone_hip_ballot
#define __any hone_hip_any
#define __all hone_hip_all
template <class T>
__device__ inline T __shfl(T value, int source, int width = 32) {
  return __shfl_sync(0xffffffffu, value, source, width);
}
template <class T>
__device__ inline T __shfl_up(T value, unsigned delta, int width = 32) {
  return __shfl_up_sync(0xffffffffu, value, delta, width);
}
template <class T>
__device__ inline T __shfl_down(T value, unsigned delta, int width = 32) {
  return __shfl_down_sync(0xffffffffu, value, delta, width);
}
template <class T>
__device__ inline T __shfl_xor(T value, int lanes, int width = 32) {
  return __shfl_xor_sync(0xffffffffu, value, lanes, width);
}
__device__ inline unsigned long long __ballot(int yes) { return __ballot_sync(0xffffffffu, yes); }
__device__ inline int __any(int yes) { return __any_sync(0xffffffffu, yes); }
__device__ inline int __all(int yes) { return __all_sync(0xffffffffu, yes); }
