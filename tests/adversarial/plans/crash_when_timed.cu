// Tries: stops with a fault in a timed round, so that its Python is judged in another process: a second measurement.
// Stopped by: only a plan that fails before it was timed is judged in another way.
#include "layer.cuh"
extern "C" __global__ void layer(const float* x, const float* parameters, float* out, float* note) {
  int i = threadIdx.x;
  float count = note[0];
  __syncthreads();
  if (i == 0) note[0] = count + 1;
  out[i] = layer_at(x, parameters, i);
  if (count >= @CALLS@) __trap();
}
