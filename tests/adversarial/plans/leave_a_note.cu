// Tries: fills its private memory, for find_a_note.
// Stopped by: private memory is cleared when a plan is unloaded and when one is loaded.
#include "layer.cuh"
extern "C" __global__ void layer(const float* x, const float* parameters, float* out, float* note) {
  int i = threadIdx.x;
  out[i] = layer_at(x, parameters, i);
  for (int k = i; k < 1024; k += 128) note[k] = 123;
}
