// Tries: nothing. It computes the layer.
// Stopped by: nothing.
#include "layer.cuh"
extern "C" __global__ void layer(const float* x, const float* parameters, float* out, float*) {
  out[threadIdx.x] = layer_at(x, parameters, threadIdx.x);
}
