// Numbers of 16 bits and pairs of them: what cuda_fp16.h and cuda_bf16.h have in common. Each operation computes in
// float and rounds once, as the device's do.
#ifndef HONE_EMULATED_NARROW_H
#define HONE_EMULATED_NARROW_H

struct hone_emulated_fp16 {
  static unsigned short bits(float x) { return hone_emulated_bits<unsigned short>((_Float16)x); }
  static float value(unsigned short x) { return (float)hone_emulated_bits<_Float16>(x); }
};
struct hone_emulated_bf16 {
  static unsigned short bits(float x) {
    const unsigned wide = __float_as_uint(x);
    if (isnan(x)) return 0x7fff;
    return (unsigned short)((wide + 0x7fffu + (wide >> 16 & 1u)) >> 16);
  }
  static float value(unsigned short x) { return __uint_as_float((unsigned)x << 16); }
};

template <class F>
struct hone_emulated_narrow {
  unsigned short __x;

  hone_emulated_narrow() = default;
  hone_emulated_narrow(float x) : __x(F::bits(x)) {}
  hone_emulated_narrow(double x) : __x(F::bits((float)x)) {}
  hone_emulated_narrow(int x) : __x(F::bits((float)x)) {}
  hone_emulated_narrow(unsigned x) : __x(F::bits((float)x)) {}
  hone_emulated_narrow(long long x) : __x(F::bits((float)x)) {}
  hone_emulated_narrow(unsigned long long x) : __x(F::bits((float)x)) {}
  operator float() const { return F::value(__x); }

  typedef hone_emulated_narrow T;
  friend T operator+(T a, T b) { return T((float)a + (float)b); }
  friend T operator-(T a, T b) { return T((float)a - (float)b); }
  friend T operator*(T a, T b) { return T((float)a * (float)b); }
  friend T operator/(T a, T b) { return T((float)a / (float)b); }
  friend T operator-(T a) { return T(-(float)a); }
  friend T operator+(T a) { return a; }
  T& operator+=(T b) { return *this = *this + b; }
  T& operator-=(T b) { return *this = *this - b; }
  T& operator*=(T b) { return *this = *this * b; }
  T& operator/=(T b) { return *this = *this / b; }
  friend bool operator==(T a, T b) { return (float)a == (float)b; }
  friend bool operator!=(T a, T b) { return (float)a != (float)b; }
  friend bool operator<(T a, T b) { return (float)a < (float)b; }
  friend bool operator<=(T a, T b) { return (float)a <= (float)b; }
  friend bool operator>(T a, T b) { return (float)a > (float)b; }
  friend bool operator>=(T a, T b) { return (float)a >= (float)b; }

  friend T __hadd(T a, T b) { return a + b; }
  friend T __hsub(T a, T b) { return a - b; }
  friend T __hmul(T a, T b) { return a * b; }
  friend T __hdiv(T a, T b) { return a / b; }
  friend T __hfma(T a, T b, T c) { return T(fmaf(a, b, c)); }
  friend T __hneg(T a) { return -a; }
  friend T __habs(T a) { return T(fabsf(a)); }
  friend T __hmax(T a, T b) { return T(fmaxf(a, b)); }
  friend T __hmin(T a, T b) { return T(fminf(a, b)); }
  friend bool __heq(T a, T b) { return a == b; }
  friend bool __hne(T a, T b) { return a != b; }
  friend bool __hlt(T a, T b) { return a < b; }
  friend bool __hle(T a, T b) { return a <= b; }
  friend bool __hgt(T a, T b) { return a > b; }
  friend bool __hge(T a, T b) { return a >= b; }
  friend bool __hisnan(T a) { return isnan((float)a); }
  friend T hexp(T a) { return T(expf(a)); }
  friend T hexp2(T a) { return T(exp2f(a)); }
  friend T hlog(T a) { return T(logf(a)); }
  friend T hsqrt(T a) { return T(sqrtf(a)); }
  friend T hrsqrt(T a) { return T(rsqrtf(a)); }
  friend T hrcp(T a) { return T(1.0f / (float)a); }
  friend T hsin(T a) { return T(sinf(a)); }
  friend T hcos(T a) { return T(cosf(a)); }
  friend T htanh(T a) { return T(tanhf(a)); }
  friend T hfloor(T a) { return T(floorf(a)); }
  friend T hceil(T a) { return T(ceilf(a)); }
  friend T hrint(T a) { return T(rintf(a)); }
};

template <class F>
struct __attribute__((aligned(4))) hone_emulated_narrow2 {
  typedef hone_emulated_narrow<F> T;
  typedef hone_emulated_narrow2 P;
  T x, y;

  hone_emulated_narrow2() = default;
  hone_emulated_narrow2(T a, T b) : x(a), y(b) {}
  friend P operator+(P a, P b) { return P(a.x + b.x, a.y + b.y); }
  friend P operator-(P a, P b) { return P(a.x - b.x, a.y - b.y); }
  friend P operator*(P a, P b) { return P(a.x * b.x, a.y * b.y); }
  friend P operator/(P a, P b) { return P(a.x / b.x, a.y / b.y); }
  friend P operator-(P a) { return P(-a.x, -a.y); }
  P& operator+=(P b) { return *this = *this + b; }
  P& operator-=(P b) { return *this = *this - b; }
  P& operator*=(P b) { return *this = *this * b; }
  friend P __hadd2(P a, P b) { return a + b; }
  friend P __hsub2(P a, P b) { return a - b; }
  friend P __hmul2(P a, P b) { return a * b; }
  friend P __h2div(P a, P b) { return a / b; }
  friend P __hneg2(P a) { return -a; }
  friend P __hfma2(P a, P b, P c) { return P(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)); }
  friend P __hmax2(P a, P b) { return P(__hmax(a.x, b.x), __hmax(a.y, b.y)); }
  friend P __hmin2(P a, P b) { return P(__hmin(a.x, b.x), __hmin(a.y, b.y)); }
  friend P __habs2(P a) { return P(__habs(a.x), __habs(a.y)); }
  friend P h2exp(P a) { return P(hexp(a.x), hexp(a.y)); }
  friend P h2sqrt(P a) { return P(hsqrt(a.x), hsqrt(a.y)); }
  friend P h2rsqrt(P a) { return P(hrsqrt(a.x), hrsqrt(a.y)); }
  friend float __low2float(P a) { return a.x; }
  friend float __high2float(P a) { return a.y; }
};

#endif
