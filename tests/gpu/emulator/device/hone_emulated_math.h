// The mathematics that device code has without an include.
#ifndef HONE_EMULATED_MATH_H
#define HONE_EMULATED_MATH_H

/* name(double) and namef(float) are the C library's; CUDA has name(float) too. */
#define HONE_EMULATED_ONE(name)    \
  extern "C" double name(double);  \
  extern "C" float name##f(float); \
  static inline float name(float x) { return name##f(x); }
#define HONE_EMULATED_TWO(name)           \
  extern "C" double name(double, double); \
  extern "C" float name##f(float, float); \
  static inline float name(float x, float y) { return name##f(x, y); }

// clang-format off
HONE_EMULATED_ONE(acos)
HONE_EMULATED_ONE(acosh)
HONE_EMULATED_ONE(asin)
HONE_EMULATED_ONE(asinh)
HONE_EMULATED_ONE(atan)
HONE_EMULATED_ONE(atanh)
HONE_EMULATED_ONE(cbrt)
HONE_EMULATED_ONE(ceil)
HONE_EMULATED_ONE(cos)
HONE_EMULATED_ONE(cosh)
HONE_EMULATED_ONE(erf)
HONE_EMULATED_ONE(erfc)
HONE_EMULATED_ONE(exp)
HONE_EMULATED_ONE(exp2)
HONE_EMULATED_ONE(exp10)
HONE_EMULATED_ONE(expm1)
HONE_EMULATED_ONE(fabs)
HONE_EMULATED_ONE(floor)
HONE_EMULATED_ONE(lgamma)
HONE_EMULATED_ONE(log)
HONE_EMULATED_ONE(log10)
HONE_EMULATED_ONE(log1p)
HONE_EMULATED_ONE(log2)
HONE_EMULATED_ONE(nearbyint)
HONE_EMULATED_ONE(rint)
HONE_EMULATED_ONE(round)
HONE_EMULATED_ONE(sin)
HONE_EMULATED_ONE(sinh)
HONE_EMULATED_ONE(sqrt)
HONE_EMULATED_ONE(tan)
HONE_EMULATED_ONE(tanh)
HONE_EMULATED_ONE(tgamma)
HONE_EMULATED_ONE(trunc)
HONE_EMULATED_TWO(atan2)
HONE_EMULATED_TWO(copysign)
HONE_EMULATED_TWO(fdim)
HONE_EMULATED_TWO(fmax)
HONE_EMULATED_TWO(fmin)
HONE_EMULATED_TWO(fmod)
HONE_EMULATED_TWO(hypot)
HONE_EMULATED_TWO(nextafter)
HONE_EMULATED_TWO(pow)
HONE_EMULATED_TWO(remainder)
// clang-format on
#undef HONE_EMULATED_ONE
#undef HONE_EMULATED_TWO

extern "C" {
double fma(double, double, double);
float fmaf(float, float, float);
double ldexp(double, int);
float ldexpf(float, int);
double frexp(double, int*);
float frexpf(float, int*);
double modf(double, double*);
float modff(float, float*);
void sincos(double, double*, double*);
void sincosf(float, float*, float*);
long lrint(double);
long lrintf(float);
long lround(double);
long lroundf(float);
int abs(int);
long labs(long);
long long llabs(long long);
}
static inline float fma(float x, float y, float z) { return fmaf(x, y, z); }
static inline float ldexp(float x, int e) { return ldexpf(x, e); }
static inline long abs(long x) { return x < 0 ? -x : x; }
static inline long long abs(long long x) { return x < 0 ? -x : x; }
static inline float abs(float x) { return fabsf(x); }
static inline double abs(double x) { return fabs(x); }
static inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static inline double rsqrt(double x) { return 1.0 / sqrt(x); }
static inline float rsqrt(float x) { return rsqrtf(x); }
static inline float rcbrtf(float x) { return 1.0f / cbrtf(x); }
static inline float normcdff(float x) { return 0.5f * erfcf(-x * 0.70710678f); }
static inline double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752); }
static inline float __saturatef(float x) { return fminf(fmaxf(x, 0.0f), 1.0f); }
static inline void __sincosf(float x, float* s, float* c) { sincosf(x, s, c); }

/* Quick forms: exact here, which no device is. */
static inline float __expf(float x) { return expf(x); }
static inline float __exp10f(float x) { return exp10f(x); }
static inline float __logf(float x) { return logf(x); }
static inline float __log2f(float x) { return log2f(x); }
static inline float __log10f(float x) { return log10f(x); }
static inline float __sinf(float x) { return sinf(x); }
static inline float __cosf(float x) { return cosf(x); }
static inline float __tanf(float x) { return tanf(x); }
static inline float __powf(float x, float y) { return powf(x, y); }
static inline float __fdividef(float x, float y) { return x / y; }
static inline float __frcp_rn(float x) { return 1.0f / x; }
static inline float __fsqrt_rn(float x) { return sqrtf(x); }
static inline float __frsqrt_rn(float x) { return rsqrtf(x); }
static inline float __fadd_rn(float x, float y) { return x + y; }
static inline float __fsub_rn(float x, float y) { return x - y; }
static inline float __fmul_rn(float x, float y) { return x * y; }
static inline float __fdiv_rn(float x, float y) { return x / y; }
static inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
static inline double __dadd_rn(double x, double y) { return x + y; }
static inline double __dmul_rn(double x, double y) { return x * y; }
static inline double __fma_rn(double x, double y, double z) { return fma(x, y, z); }

/* Functions, as in device code, and not the C library's macros. */
static inline bool isnan(float x) { return __builtin_isnan(x); }
static inline bool isnan(double x) { return __builtin_isnan(x); }
static inline bool isinf(float x) { return __builtin_isinf(x); }
static inline bool isinf(double x) { return __builtin_isinf(x); }
static inline bool isfinite(float x) { return __builtin_isfinite(x); }
static inline bool isfinite(double x) { return __builtin_isfinite(x); }
static inline bool signbit(float x) { return __builtin_signbit(x); }
static inline bool signbit(double x) { return __builtin_signbit(x); }

/* min and max of every pair of arithmetic types, NaN-averse for floating point. */
#define HONE_EMULATED_LEAST(T)                                      \
  static inline constexpr T min(T x, T y) { return y < x ? y : x; } \
  static inline constexpr T max(T x, T y) { return x < y ? y : x; }
HONE_EMULATED_LEAST(int)
HONE_EMULATED_LEAST(unsigned)
HONE_EMULATED_LEAST(long)
HONE_EMULATED_LEAST(unsigned long)
HONE_EMULATED_LEAST(long long)
HONE_EMULATED_LEAST(unsigned long long)
#undef HONE_EMULATED_LEAST
static inline unsigned min(int x, unsigned y) { return min((unsigned)x, y); }
static inline unsigned min(unsigned x, int y) { return min(x, (unsigned)y); }
static inline unsigned max(int x, unsigned y) { return max((unsigned)x, y); }
static inline unsigned max(unsigned x, int y) { return max(x, (unsigned)y); }
static inline long long min(int x, long long y) { return min((long long)x, y); }
static inline long long min(long long x, int y) { return min(x, (long long)y); }
static inline long long max(int x, long long y) { return max((long long)x, y); }
static inline long long max(long long x, int y) { return max(x, (long long)y); }
static inline float min(float x, float y) { return fminf(x, y); }
static inline float max(float x, float y) { return fmaxf(x, y); }
static inline double min(double x, double y) { return fmin(x, y); }
static inline double max(double x, double y) { return fmax(x, y); }
static inline double min(float x, double y) { return fmin((double)x, y); }
static inline double min(double x, float y) { return fmin(x, (double)y); }
static inline double max(float x, double y) { return fmax((double)x, y); }
static inline double max(double x, float y) { return fmax(x, (double)y); }

/* Bits. */
template <class To, class From>
static inline To hone_emulated_bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "of one size");
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}
static inline int __float_as_int(float x) { return hone_emulated_bits<int>(x); }
static inline unsigned __float_as_uint(float x) { return hone_emulated_bits<unsigned>(x); }
static inline float __int_as_float(int x) { return hone_emulated_bits<float>(x); }
static inline float __uint_as_float(unsigned x) { return hone_emulated_bits<float>(x); }
static inline long long __double_as_longlong(double x) { return hone_emulated_bits<long long>(x); }
static inline double __longlong_as_double(long long x) { return hone_emulated_bits<double>(x); }
static inline int __double2int_rn(double x) { return (int)lrint(x); }
static inline int __float2int_rn(float x) { return (int)lrintf(x); }
static inline int __float2int_rz(float x) { return (int)x; }
static inline int __float2int_rd(float x) { return (int)floorf(x); }
static inline int __float2int_ru(float x) { return (int)ceilf(x); }
static inline unsigned __float2uint_rn(float x) { return (unsigned)lrintf(x); }
static inline float __int2float_rn(int x) { return (float)x; }
static inline float __uint2float_rn(unsigned x) { return (float)x; }
static inline float __double2float_rn(double x) { return (float)x; }
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned)x); }
static inline int __clzll(long long x) {
  return x == 0 ? 64 : __builtin_clzll((unsigned long long)x);
}
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline int __mul24(int x, int y) { return x * y; }
static inline unsigned __umulhi(unsigned x, unsigned y) {
  return (unsigned)((unsigned long long)x * y >> 32);
}
static inline int __mulhi(int x, int y) { return (int)((long long)x * y >> 32); }
static inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return (unsigned long long)((unsigned __int128)x * y >> 64);
}
static inline unsigned __brev(unsigned x) {
  unsigned reversed = 0;
  for (int i = 0; i < 32; ++i) reversed |= (x >> i & 1u) << (31 - i);
  return reversed;
}
static inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return (unsigned)((((unsigned long long)high << 32 | low) << (shift & 31)) >> 32);
}
static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return (unsigned)(((unsigned long long)high << 32 | low) >> (shift & 31));
}

#endif
