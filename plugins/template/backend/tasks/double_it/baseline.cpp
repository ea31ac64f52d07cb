// The kernel that submissions are compared with. It is a valid submission. docs/plans.md explains the default launch.
extern "C" __global__ void double_it(const float* x, float* out, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] + x[i];
}
