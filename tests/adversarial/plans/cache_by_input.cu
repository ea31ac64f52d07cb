// Tries: caches outputs in private memory by the contents of the inputs, and computes nothing where these repeat.
// Stopped by: new inputs in every round (fresh_inputs).
#include "layer.cuh"
extern "C" __global__ void layer(const float* x, const float* parameters, float* out, float* note) {
  int i = threadIdx.x;
  // Sixteen sets of inputs, each with its first element as the key. After the first few, it relies on its cache.
  int slot = -1;
  for (int s = 0; s < 16; ++s)
    if (note[3000 + s] == x[0] && x[0] != 0) slot = s;
  float count = note[3020];
  __syncthreads();
  if (slot < 0) {
    slot = (int)count % 16;
    note[slot * 128 + i] = count < @CALLS@ ? layer_at(x, parameters, i) : 0;
    __syncthreads();
    if (i == 0) note[3000 + slot] = x[0], note[3020] = count + 1;
  }
  out[i] = note[slot * 128 + i];
}
