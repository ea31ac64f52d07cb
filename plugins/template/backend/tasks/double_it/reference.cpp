// The expected outputs, in the task's type and in double.
// hone: plan reference
// hone: launch reference grid = ceil_div(n, 256) block = 256
// hone: plan exact
// hone: launch exact grid = ceil_div(n, 256) block = 256
extern "C" __global__ void reference(const float* x, float* out, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * x[i];
}
extern "C" __global__ void exact(const float* x, double* out, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * double{x[i]};
}
