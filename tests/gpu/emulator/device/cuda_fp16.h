// The numbers of cuda_fp16.h: IEEE's binary16.
#ifndef HONE_EMULATED_CUDA_FP16_H
#define HONE_EMULATED_CUDA_FP16_H
#include "hone_emulated_narrow.h"

typedef hone_emulated_narrow<hone_emulated_fp16> __half;
typedef hone_emulated_narrow2<hone_emulated_fp16> __half2;
typedef __half half;
typedef __half2 half2;

static inline __half __float2half(float x) { return __half(x); }
static inline __half __float2half_rn(float x) { return __half(x); }
static inline __half __double2half(double x) { return __half(x); }
static inline float __half2float(__half x) { return x; }
static inline __half __int2half_rn(int x) { return __half(x); }
static inline int __half2int_rn(__half x) { return __float2int_rn(x); }
static inline int __half2int_rz(__half x) { return __float2int_rz(x); }
static inline __half __ushort_as_half(unsigned short x) { return hone_emulated_bits<__half>(x); }
static inline unsigned short __half_as_ushort(__half x) { return x.__x; }
static inline short __half_as_short(__half x) { return (short)x.__x; }
static inline __half2 make_half2(__half x, __half y) { return __half2(x, y); }
static inline __half2 __halves2half2(__half x, __half y) { return __half2(x, y); }
static inline __half2 __half2half2(__half x) { return __half2(x, x); }
static inline __half2 __float2half2_rn(float x) { return __half2(x, x); }
static inline __half2 __floats2half2_rn(float x, float y) { return __half2(x, y); }
static inline __half2 __float22half2_rn(float2 x) { return __half2(x.x, x.y); }
static inline float2 __half22float2(__half2 x) { return make_float2(x.x, x.y); }
static inline __half __low2half(__half2 x) { return x.x; }
static inline __half __high2half(__half2 x) { return x.y; }
static inline __half2 __lowhigh2highlow(__half2 x) { return __half2(x.y, x.x); }

#endif
