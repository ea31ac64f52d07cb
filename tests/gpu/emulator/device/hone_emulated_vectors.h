// The vector types of CUDA (float4, uint3, ...) and their makers.
#ifndef HONE_EMULATED_VECTORS_H
#define HONE_EMULATED_VECTORS_H

/* Vectors of two and four are aligned to their size, up to 16 bytes. */
#define HONE_EMULATED_VECTORS(name, T)                                                \
  struct name##1 {                                                                    \
    T x;                                                                              \
  };                                                                                  \
  struct __attribute__((aligned(2 * sizeof(T)))) name##2 {                            \
    T x, y;                                                                           \
  };                                                                                  \
  struct name##3 {                                                                    \
    T x, y, z;                                                                        \
  };                                                                                  \
  struct __attribute__((aligned(sizeof(T) == 8 ? 16 : 4 * sizeof(T)))) name##4 {      \
    T x, y, z, w;                                                                     \
  };                                                                                  \
  static inline constexpr name##1 make_##name##1(T x) { return {x}; }                 \
  static inline constexpr name##2 make_##name##2(T x, T y) { return {x, y}; }         \
  static inline constexpr name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
  static inline constexpr name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

HONE_EMULATED_VECTORS(char, signed char)
HONE_EMULATED_VECTORS(uchar, unsigned char)
HONE_EMULATED_VECTORS(short, short)
HONE_EMULATED_VECTORS(ushort, unsigned short)
HONE_EMULATED_VECTORS(int, int)
HONE_EMULATED_VECTORS(uint, unsigned)
HONE_EMULATED_VECTORS(long, long)
HONE_EMULATED_VECTORS(ulong, unsigned long)
HONE_EMULATED_VECTORS(longlong, long long)
HONE_EMULATED_VECTORS(ulonglong, unsigned long long)
HONE_EMULATED_VECTORS(float, float)
HONE_EMULATED_VECTORS(double, double)

#undef HONE_EMULATED_VECTORS

#endif
