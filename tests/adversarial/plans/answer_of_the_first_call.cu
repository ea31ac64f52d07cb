// Tries: keeps the outputs of its first call in private memory and copies them in later calls.
// Stopped by: new inputs in every call (fresh_inputs, families).
#include "layer.cuh"
extern "C" __global__ void layer(const float* x, const float* parameters, float* out, float* note) {
  int i = threadIdx.x;
  if (note[256 + i] == 0) {
    note[i] = layer_at(x, parameters, i);
    note[256 + i] = 1;
  }
  out[i] = note[i];
}
