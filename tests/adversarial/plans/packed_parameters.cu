// Tries: packs the parameters in its first call and uses them in later calls, whose parameters differ.
// Stopped by: new parameters in every call.
#include "layer.cuh"
extern "C" __global__ void layer(const float* x, const float* parameters, float* out, float* note) {
  int i = threadIdx.x;
  if (i == 0 && note[512] == 0) {
    for (int k = 0; k < 288; ++k) note[k] = parameters[k];
    note[512] = 1;
  }
  __syncthreads();
  out[i] = layer_at(x, note, i);
}
