// Barriers, warps, clocks and loads of device code.
#ifndef HONE_EMULATED_THREADS_H
#define HONE_EMULATED_THREADS_H

static inline unsigned hone_emulated_lane() {
  return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % HONE_EMULATED_WARP;
}

static inline void __syncthreads() { hone_emulated->barrier(0, HONE_BARRIER_PLAIN); }
static inline int __syncthreads_count(int yes) {
  return hone_emulated->barrier(yes, HONE_BARRIER_COUNT);
}
static inline int __syncthreads_and(int yes) {
  return hone_emulated->barrier(yes, HONE_BARRIER_AND);
}
static inline int __syncthreads_or(int yes) { return hone_emulated->barrier(yes, HONE_BARRIER_OR); }
static inline void __syncwarp(unsigned mask = ~0u) {
  hone_emulated->meet(mask, 0, 0, HONE_WARP_SYNC);
}
static inline unsigned __activemask() {
  return (unsigned)hone_emulated->meet(0, 0, 0, HONE_WARP_ACTIVE);
}
static inline unsigned __ballot_sync(unsigned mask, int yes) {
  return (unsigned)hone_emulated->meet(mask, yes != 0, 0, HONE_WARP_BALLOT);
}
static inline int __any_sync(unsigned mask, int yes) { return __ballot_sync(mask, yes) != 0; }
static inline int __all_sync(unsigned mask, int yes) { return __ballot_sync(mask, !yes) == 0; }

template <class T>
static inline T hone_emulated_move(unsigned mask, T value, unsigned source) {
  static_assert(sizeof(T) <= 8, "a shuffle moves up to 8 bytes");
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  bits = hone_emulated->meet(mask, bits, source, HONE_WARP_MOVE);
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}
/* Lanes work in groups of `width`; a source beyond the group is the lane itself. */
template <class T>
static inline T __shfl_sync(unsigned mask, T value, int source, int width = warpSize) {
  const unsigned w = (unsigned)width, lane = hone_emulated_lane();
  return hone_emulated_move(mask, value, (lane & ~(w - 1)) | ((unsigned)source & (w - 1)));
}
template <class T>
static inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {
  const unsigned w = (unsigned)width, lane = hone_emulated_lane();
  return hone_emulated_move(mask, value, (lane & (w - 1)) < delta ? lane : lane - delta);
}
template <class T>
static inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {
  const unsigned w = (unsigned)width, lane = hone_emulated_lane();
  return hone_emulated_move(mask, value, (lane & (w - 1)) + delta >= w ? lane : lane + delta);
}
template <class T>
static inline T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = warpSize) {
  const unsigned w = (unsigned)width, lane = hone_emulated_lane();
  const unsigned source = lane ^ (unsigned)lanes;
  return hone_emulated_move(mask, value, source > (lane | (w - 1)) ? lane : source);
}

/* One word for all lanes of the mask. */
template <class T, class Combine>
static inline T hone_emulated_reduce(unsigned mask, T value, Combine combine) {
  T all = value;
  bool first = true;
  for (unsigned lane = 0; lane < HONE_EMULATED_WARP; ++lane) {
    if ((mask >> lane & 1) == 0) continue;
    const T one = hone_emulated_move(mask, value, lane);
    all = first ? one : combine(all, one);
    first = false;
  }
  return all;
}
template <class T>
static inline T __reduce_add_sync(unsigned mask, T value) {
  return hone_emulated_reduce(mask, value, [](T a, T b) { return a + b; });
}
template <class T>
static inline T __reduce_min_sync(unsigned mask, T value) {
  return hone_emulated_reduce(mask, value, [](T a, T b) { return b < a ? b : a; });
}
template <class T>
static inline T __reduce_max_sync(unsigned mask, T value) {
  return hone_emulated_reduce(mask, value, [](T a, T b) { return a < b ? b : a; });
}
static inline unsigned __reduce_and_sync(unsigned mask, unsigned value) {
  return hone_emulated_reduce(mask, value, [](unsigned a, unsigned b) { return a & b; });
}
static inline unsigned __reduce_or_sync(unsigned mask, unsigned value) {
  return hone_emulated_reduce(mask, value, [](unsigned a, unsigned b) { return a | b; });
}
template <class T>
static inline unsigned __match_any_sync(unsigned mask, T value) {
  unsigned same = 0;
  for (unsigned lane = 0; lane < HONE_EMULATED_WARP; ++lane) {
    if ((mask >> lane & 1) != 0 && hone_emulated_move(mask, value, lane) == value)
      same |= 1u << lane;
  }
  return same;
}

static inline void __threadfence() {}
static inline void __threadfence_block() {}
static inline void __threadfence_system() {}
static inline void __nanosleep(unsigned) { hone_emulated->yield(); }
static inline long long clock64() { return (long long)__builtin_ia32_rdtsc(); }
static inline long clock() { return (long)clock64(); }

template <class T>
static inline T __ldg(const T* at) {
  return *at;
}
template <class T>
static inline T __ldcs(const T* at) {
  return *at;
}
template <class T>
static inline T __ldcg(const T* at) {
  return *at;
}
template <class T>
static inline T __ldca(const T* at) {
  return *at;
}
template <class T>
static inline void __stcs(T* at, T value) {
  *at = value;
}
template <class T>
static inline void __stcg(T* at, T value) {
  *at = value;
}
template <class T>
static inline void __stwt(T* at, T value) {
  *at = value;
}

#endif
