// CUDA C++ for a processor's compiler: what NVRTC gives every source without an include.
#ifndef HONE_EMULATED_DEVICE_H
#define HONE_EMULATED_DEVICE_H
#include "hone_emulated_module.h"

#define __CUDACC_RTC__ 1
#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __global__
#define __device__
#define __host__
#define __constant__
#define __grid_constant__
#define __shared__ static
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __maxnreg__(...)

typedef decltype(sizeof 0) size_t;
typedef decltype((char*)0 - (char*)0) ptrdiff_t;
#define NULL 0

#include "hone_emulated_vectors.h"

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return uint3{x, y, z}; }
};

static const hone_emulated_runtime* hone_emulated;
static unsigned char* hone_emulated_shared;
static uint3 threadIdx, blockIdx;
static dim3 blockDim, gridDim;
static const int warpSize = HONE_EMULATED_WARP;

/* What `extern __shared__ T name[]` becomes: `T* name = hone_emulated_dynamic_shared{}`. */
struct hone_emulated_dynamic_shared {
  template <class T>
  operator T*() const {
    return reinterpret_cast<T*>(hone_emulated_shared);
  }
};

/* A kernel's arguments come as pointers: one function per signature takes them out. */
template <auto kernel>
struct hone_emulated_call;
template <class... A, void (*kernel)(A...)>
struct hone_emulated_call<kernel> {
  static constexpr unsigned count = sizeof...(A);
  struct table {
    unsigned long at[sizeof...(A) + 1][2];
  };
  static constexpr table make_table() {
    const unsigned long sizes[] = {sizeof(A)..., 0}, aligns[] = {alignof(A)..., 1};
    table made = {};
    unsigned long end = 0;
    for (unsigned i = 0; i < sizeof...(A); ++i) {
      made.at[i][0] = (end + aligns[i] - 1) / aligns[i] * aligns[i];
      made.at[i][1] = sizes[i];
      end = made.at[i][0] + sizes[i];
    }
    return made;
  }
  static constexpr table places = make_table();
  template <unsigned... i>
  struct numbers {};
  template <unsigned n, unsigned... i>
  struct make : make<n - 1, n - 1, i...> {};
  template <unsigned... i>
  struct make<0, i...> {
    typedef numbers<i...> type;
  };
  template <unsigned... i>
  static void call_with(void** a, numbers<i...>) {
    (void)a;
    kernel(*static_cast<A*>(a[i])...);
  }
  static void call(void** a) { call_with(a, typename make<count>::type()); }
};

#include "hone_emulated_atomics.h"
#include "hone_emulated_math.h"
#include "hone_emulated_threads.h"

/* Memory, words and faults. */
extern "C" {
__attribute__((visibility("hidden"))) void* malloc(size_t bytes) {
  return hone_emulated->allocate(bytes);
}
__attribute__((visibility("hidden"))) void free(void* memory) { hone_emulated->release(memory); }
__attribute__((visibility("hidden"), format(printf, 1, 2))) int printf(const char* format, ...) {
  __builtin_va_list arguments;
  __builtin_va_start(arguments, format);
  const int size = hone_emulated->print(format, arguments);
  __builtin_va_end(arguments);
  return size;
}
void* memcpy(void*, const void*, size_t);
void* memset(void*, int, size_t);
void* memmove(void*, const void*, size_t);
int memcmp(const void*, const void*, size_t);
}
/* Inline, so that an image that takes no memory has no word of it, as a real one. */
inline void* operator new(size_t bytes) { return malloc(bytes); }
inline void* operator new[](size_t bytes) { return malloc(bytes); }
inline void operator delete(void* memory) noexcept { free(memory); }
inline void operator delete[](void* memory) noexcept { free(memory); }
inline void operator delete(void* memory, size_t) noexcept { free(memory); }
inline void operator delete[](void* memory, size_t) noexcept { free(memory); }

[[noreturn]] static inline void hone_emulated_fault(int error) {
  hone_emulated->fault(error);
  __builtin_unreachable();
}
[[noreturn]] static inline void __trap() { hone_emulated_fault(719); }
#define assert(condition)                                                                         \
  ((condition) ? (void)0                                                                          \
               : (printf("%s:%d: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", \
                         __FILE__, __LINE__, blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x,     \
                         threadIdx.y, threadIdx.z, #condition),                                   \
                  hone_emulated_fault(710)))

/* Inline PTX: asm("text" : outputs : inputs) becomes hone_emulated_ptx("text", outputs..., inputs...). */
static inline bool hone_emulated_starts(const char* text, const char* with) {
  while (*text == ' ' || *text == '\t' || *text == '\n' || *text == '{') ++text;
  while (*with != 0) {
    if (*text++ != *with++) return false;
  }
  return true;
}
static inline bool hone_emulated_names(const char* text, const char* word) {
  for (; *text != 0; ++text) {
    if (hone_emulated_starts(text, word)) return true;
  }
  return false;
}
static inline void hone_emulated_ptx(const char* text) {
  if (hone_emulated_starts(text, "trap")) __trap();
  if (hone_emulated_starts(text, "bar.sync") || hone_emulated_starts(text, "barrier.sync")) {
    __syncthreads();
  } else if (!hone_emulated_starts(text, "membar") && !hone_emulated_starts(text, "fence") &&
             *text != 0) {
    hone_emulated_fault(218);
  }
}
template <class T>
static inline void hone_emulated_ptx(const char* text, T& out) {
  if (hone_emulated_names(text, "%globaltimer")) {
    out = static_cast<T>(hone_emulated->nanoseconds());
  } else if (hone_emulated_names(text, "%clock")) {
    out = static_cast<T>(clock64());
  } else if (hone_emulated_names(text, "%laneid")) {
    out = static_cast<T>(hone_emulated_lane());
  } else if (hone_emulated_names(text, "%smid")) {
    out = 0;
  } else {
    hone_emulated_fault(218);
  }
}
template <class T, class U, class... More>
static inline void hone_emulated_ptx(const char*, T&&, U&&, More&&...) {
  hone_emulated_fault(218);
}

#endif
