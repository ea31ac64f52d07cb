// Tries: to keep the compiler busy for ever, or to use up the machine's memory. Stopped by: limits
// on the builder.
#include "inside.cuh"
template <long N, long M>
struct Tree {
  static constexpr long value = Tree<N - 1, M * 2>::value + Tree<N - 1, M * 2 + 1>::value;
};
template <long M>
struct Tree<0, M> {
  static constexpr long value = M;
};
extern "C" __global__ void add_relu(const float* x, const float* y, float* out, long long n) {
  const long long i = index();
  if (i < n) out[i] = (float)Tree<60, 1>::value;
}
