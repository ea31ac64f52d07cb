// Tries: counts its calls in private memory, and does nothing once more calls came than a check has.
// Stopped by: timed outputs are checked (timed_answers).
#include "layer.cuh"
extern "C" __global__ void layer(const float* x, const float* parameters, float* out, float* note) {
  int i = threadIdx.x;
  float count = note[0];
  __syncthreads();
  if (i == 0) note[0] = count + 1;
  if (count < @CALLS@) out[i] = layer_at(x, parameters, i);
}
