// Tries: does nothing in a timed call whose tensors' addresses it knows, so that the outputs of the last call there count.
// Stopped by: new inputs, and outputs that are overwritten before every round (fresh_inputs, poison).
#include "layer.cuh"
extern "C" __global__ void layer(const float* x, const float* parameters, float* out, float* note) {
  int i = threadIdx.x;
  // Pairs of addresses: with another number of calls in a round, an output may lie where another call's output was.
  unsigned long long* seen = (unsigned long long*)note;
  float count = note[2000];
  int known = 0;
  for (int k = 0; k < 400; ++k)
    if (seen[2 * k] == (unsigned long long)out && seen[2 * k + 1] == (unsigned long long)x) known = 1;
  __syncthreads();
  if (i == 0) note[2000] = count + 1;
  if (known) return;
  out[i] = layer_at(x, parameters, i);
  int timed = (int)count - @CALLS@;
  if (i == 0 && timed >= 0 && timed < 400) {
    seen[2 * timed] = (unsigned long long)out;
    seen[2 * timed + 1] = (unsigned long long)x;
  }
}
