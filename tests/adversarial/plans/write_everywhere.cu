// Tries: writes upwards from its private memory: over other buffers, staged bytes, and whatever the driver has there.
// Stopped by: inputs and canaries are compared; memory that is not mapped faults.
#include "layer.cuh"
extern "C" __global__ void layer(const float* x, const float* parameters, float* out, float* note) {
  int i = threadIdx.x;
  out[i] = layer_at(x, parameters, i);
  if (i == 0)
    for (volatile float* at = note;; ++at) *at = 0;
}
