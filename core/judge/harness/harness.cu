// The kernels of a device's workbench: they fill, load, inspect and compare tensors in the judge's own context, and do
// what core/judge/fill.cpp and compare.cpp do on the processor, bit for bit where data is made.
//
// Theory of operation. Work comes as a table of items, each of kWords 64-bit words; block (x, y) works on item y, and
// the blocks of one y share its elements. core/judge/device_workbench.cpp writes the tables and names the words.
typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

// One rounding for each operation, so that every machine makes the same data.
#if defined(__CUDACC__) || defined(__CUDACC_RTC__) || defined(__HIPCC__) || defined(__HIPCC_RTC__)
__device__ inline float mul(float a, float b) { return __fmul_rn(a, b); }
__device__ inline float add(float a, float b) { return __fadd_rn(a, b); }
__device__ inline double mul(double a, double b) { return __dmul_rn(a, b); }
__device__ inline double add(double a, double b) { return __dadd_rn(a, b); }
#else
__device__ inline float mul(float a, float b) { return a * b; }
__device__ inline float add(float a, float b) { return a + b; }
__device__ inline double mul(double a, double b) { return a * b; }
__device__ inline double add(double a, double b) { return a + b; }
#endif

enum { kWords = 13 };
enum DType { kF32, kF64, kI8, kU8, kI32, kU32, kI64, kF16, kBF16 };
enum Kind { kNormal, kUniform, kIntegers, kConstant, kCancel, kScaled, kTies, kSparse, kRamp, kOffsets };

// The 16 bytes that one instruction reads or writes. Tensors with aligned addresses are read in chunks.
struct alignas(16) Chunk {
  u32 words[4];
};
enum { kAtOnce = 4 };  // loads in flight for each thread; one load reaches half of the bandwidth
__device__ inline bool same(const Chunk& a, const Chunk& b) {
  return ((a.words[0] ^ b.words[0]) | (a.words[1] ^ b.words[1]) | (a.words[2] ^ b.words[2]) |
          (a.words[3] ^ b.words[3])) == 0;
}
__device__ inline bool holds_chunks(u64 address, u64 other) { return ((address | other) & 15) == 0; }

__device__ inline u64 first() { return (u64)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ inline u64 stride() { return (u64)gridDim.x * blockDim.x; }
__device__ inline float float_of(u64 bits) {
  union { u32 i; float f; } word;
  word.i = (u32)bits;
  return word.f;
}
__device__ inline double double_of(u64 bits) {
  union { u64 i; double f; } word;
  word.i = bits;
  return word.f;
}
__device__ inline u32 bits_of(float value) {
  union { u32 i; float f; } word;
  word.f = value;
  return word.i;
}

// ---- the counter-based generator ----
__device__ inline u32 mixed(u64 seed, u64 i) {
  const u32 low = (u32)seed ^ ((u32)(i >> 32) * 0x85EBCA6Bu), high = (u32)(seed >> 32);
  u32 x = (u32)i * 0x9E3779B1u + low;
  x ^= x >> 16;
  x *= 0x7FEB352Du;
  x ^= (x >> 15) + high;
  x *= 0x846CA68Bu;
  x ^= x >> 16;
  return x;
}
__device__ inline float unit(u64 seed, u64 i) { return mul((float)(mixed(seed, i) >> 8), 5.9604644775390625e-08f); }
__device__ inline float normal(u64 seed, u64 i) {
  const u32 a = mixed(seed, 2 * i), b = mixed(seed, 2 * i + 1);
  const int sum = (int)((a & 0xffff) + (a >> 16) + (b & 0xffff) + (b >> 16)) - 131070;
  return mul((float)sum, 1.0f / 37837.2f);
}

// ---- elements ----
__device__ inline u32 half_bits(float value) {
  const u32 bits = bits_of(value), sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu;
  if (rest > 0x7f800000u) return sign | 0x7e00u;
  if (rest >= 0x47800000u) return sign | 0x7c00u;
  if (rest < 0x33000000u) return sign;
  const int exponent = (int)(rest >> 23) - 127;
  const u32 shift = exponent < -14 ? (u32)(-exponent - 1) : 13u;
  const u32 whole = (rest & 0x7fffffu) | 0x800000u;
  u32 kept = whole >> shift;
  const u32 left = whole & ((1u << shift) - 1), middle = 1u << (shift - 1);
  if (left > middle || (left == middle && (kept & 1))) ++kept;
  return sign | (exponent < -14 ? kept : kept + ((u32)(exponent + 14) << 10));
}
__device__ inline u32 bfloat_bits(float value) {
  const u32 bits = bits_of(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return (bits >> 16) | 0x40u;
  return (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
}
__device__ inline double half_value(u32 bits) {
  const u32 exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double sign = bits & 0x8000u ? -1.0 : 1.0;
  if (exponent == 31) return fraction ? double_of(0x7ff8000000000000ull) : sign * double_of(0x7ff0000000000000ull);
  if (exponent == 0) return sign * (double)fraction * 5.9604644775390625e-08;
  const u64 wide = (u64)(exponent - 15 + 1023) << 52 | (u64)fraction << 42;
  return sign * double_of(wide);
}
__device__ inline i64 nearest(double value, double low, double high) {
  return value <= low ? (i64)low : value >= high ? (i64)high : (i64)rint(value);
}
__device__ inline void store(u64 address, u64 dtype, u64 i, double value) {
  switch (dtype) {
    case kF32: ((float*)address)[i] = (float)value; break;
    case kF64: ((double*)address)[i] = value; break;
    case kI8: ((signed char*)address)[i] = (signed char)nearest(value, -128, 127); break;
    case kU8: ((u8*)address)[i] = (u8)nearest(value, 0, 255); break;
    case kI32: ((int*)address)[i] = (int)nearest(value, -2147483648.0, 2147483647.0); break;
    case kU32: ((u32*)address)[i] = (u32)nearest(value, 0, 4294967295.0); break;
    case kI64:
      ((i64*)address)[i] = value <= -9223372036854775808.0  ? (i64)(1ull << 63)
                           : value >= 9223372036854775808.0 ? (i64)~(1ull << 63)
                                                            : (i64)rint(value);
      break;
    case kF16: ((unsigned short*)address)[i] = (unsigned short)half_bits((float)value); break;
    default: ((unsigned short*)address)[i] = (unsigned short)bfloat_bits((float)value); break;
  }
}
__device__ inline void store_integer(u64 address, u64 dtype, u64 i, i64 value) {
  switch (dtype) {
    case kI8: case kU8: ((u8*)address)[i] = (u8)value; break;
    case kI32: case kU32: ((u32*)address)[i] = (u32)value; break;
    case kI64: ((i64*)address)[i] = value; break;
    case kF32: ((float*)address)[i] = (float)value; break;
    case kF64: ((double*)address)[i] = (double)value; break;
    default: store(address, dtype, i, (double)(float)value); break;
  }
}
__device__ inline u64 size_of(u64 dtype) {
  switch (dtype) {
    case kI8: case kU8: return 1;
    case kF16: case kBF16: return 2;
    case kF64: case kI64: return 8;
    default: return 4;
  }
}
__device__ inline double element(u64 address, u64 dtype, u64 i) {
  switch (dtype) {
    case kF32: return ((const float*)address)[i];
    case kF64: return ((const double*)address)[i];
    case kI8: return ((const signed char*)address)[i];
    case kU8: return ((const u8*)address)[i];
    case kI32: return ((const int*)address)[i];
    case kU32: return ((const u32*)address)[i];
    case kI64: return (double)((const i64*)address)[i];
    case kF16: return half_value(((const unsigned short*)address)[i]);
    default: return float_of((u64)((const unsigned short*)address)[i] << 16);
  }
}

// As fill_offsets in core/judge/fill.cpp.
__device__ inline double offset(u64 seed, u64 i, u64 count, double a, double b) {
  const double last = (double)((count > 2 ? count : 2) - 1);
  const double jitter = i > 0 && i + 1 < count ? add((double)unit(seed, i), -0.5) : 0.0;
  const double place = add((double)i, jitter) / last, power = rint(b);
  double raised = place;
  for (int n = 1; n < 4 && n < power; ++n) raised = mul(raised, place);
  return mul(raised, mul(rint(a), last));
}

// Words: address, count, dtype, kind, a, b (doubles), seed, second seed, low, span (integers), scale and offset (floats).
extern "C" __global__ void hone_fill(const u64* table) {
  const u64* item = table + (u64)blockIdx.y * kWords;
  const u64 address = item[0], dtype = item[2], seed = item[6], other = item[7], span = item[9];
  const double a = double_of(item[4]), b = double_of(item[5]);
  const u64 count = item[1], kind = item[3];
  const float fa = (float)a, fb = (float)b;
  for (u64 i = first(); i < count; i += stride()) {
    switch (kind) {
      case kUniform: store(address, dtype, i, add(fa, mul(add(fb, -fa), unit(seed, i)))); break;
      case kIntegers: {
        const u64 wide = (u64)mixed(seed, 2 * i) << 32 | mixed(seed, 2 * i + 1);
        const u64 at = span <= 1ull << 32 ? (u64)mixed(seed, i) * span >> 32 : wide % span;
        store_integer(address, dtype, i, (i64)item[8] + (i64)at);
        break;
      }
      case kConstant: store(address, dtype, i, fa); break;
      case kCancel: {
        const float value = mul(normal(seed, i & ~1ull), fb);
        const float small = mul(normal(seed, i), mul(fb, 0.0009765625f));
        store(address, dtype, i, i & 1 ? add(-value, small) : value);
        break;
      }
      case kScaled:
        store(address, dtype, i, add(mul(normal(seed, i), float_of(item[10])), float_of(item[11])));
        break;
      case kTies: store(address, dtype, i, mul(normal(other, mixed(seed, i) % span), fb)); break;
      case kSparse: store(address, dtype, i, unit(other, i) < fa ? 0.0f : mul(normal(seed, i), fb)); break;
      case kRamp: store(address, dtype, i, add(a, mul(b, (double)i))); break;
      case kOffsets: store(address, dtype, i, offset(seed, i, count, a, b)); break;
      default: store(address, dtype, i, add(fa, mul(normal(seed, i), fb))); break;
    }
  }
}

// ---- patterns: poison and canaries ----
__device__ inline u8 pattern(u64 seed, u64 at) { return (u8)(mixed(seed, at / 4) >> (8 * (at & 3))); }

__device__ inline void copy(Chunk* to, const Chunk* from, u64 chunks) {
  const u64 step = stride();
  for (u64 i = first(); i < chunks; i += kAtOnce * step) {
    Chunk read[kAtOnce];
    for (u64 n = 0; n < kAtOnce; ++n) {
      if (i + n * step < chunks) read[n] = from[i + n * step];
    }
    for (u64 n = 0; n < kAtOnce; ++n) {
      if (i + n * step < chunks) to[i + n * step] = read[n];
    }
  }
}

/// Calls differs(i) for each of this thread's chunks i that differs between the two tensors.
template <typename Differs>
__device__ inline void compare_chunks(u64 a_at, u64 b_at, u64 chunks, Differs differs) {
  const Chunk *const a = (const Chunk*)a_at, *const b = (const Chunk*)b_at;
  const u64 step = stride();
  for (u64 i = first(); i < chunks; i += kAtOnce * step) {
    Chunk one[kAtOnce], other[kAtOnce];
    for (u64 n = 0; n < kAtOnce; ++n) {
      const u64 at = i + n * step < chunks ? i + n * step : i;
      one[n] = a[at];
      other[n] = b[at];
    }
    for (u64 n = 0; n < kAtOnce; ++n) {
      if (i + n * step < chunks && !same(one[n], other[n])) differs(i + n * step);
    }
  }
}

// Words: arena, begin, payload, bytes, end, source address, kind (0 copy, 1 poison, 2 leave), poison seed, canary seed.
extern "C" __global__ void hone_load(const u64* table) {
  const u64* item = table + (u64)blockIdx.y * kWords;
  u8* const arena = (u8*)item[0];
  const u64 begin = item[1], payload = item[2], bytes = item[3], end = item[4], words = bytes / 4;
  // Read once: the compiler must assume that the stores below change the table.
  const u64 source = item[5], kind = item[6], poison = item[7], canaries = item[8], step = stride();
  for (u64 at = begin + first(); at < payload; at += step) arena[at] = pattern(canaries, at);
  for (u64 at = payload + bytes + first(); at < end; at += step) arena[at] = pattern(canaries, at);
  if (kind == 2) return;
  u32* const to = (u32*)(arena + payload);
  const u32* const from = (const u32*)source;
  const u64 chunks = holds_chunks((u64)to, kind == 0 ? source : 0) ? words / 4 : 0;
  if (kind == 0) {
    copy((Chunk*)to, (const Chunk*)from, chunks);
    for (u64 i = 4 * chunks + first(); i < words; i += step) to[i] = from[i];
  } else {
    for (u64 i = first(); i < chunks; i += step) {
      Chunk made;
      for (int word = 0; word < 4; ++word) made.words[word] = mixed(poison, payload / 4 + 4 * i + word);
      ((Chunk*)to)[i] = made;
    }
    for (u64 i = 4 * chunks + first(); i < words; i += step) to[i] = mixed(poison, payload / 4 + i);
  }
  for (u64 at = payload + 4 * words + first(); at < payload + bytes; at += step)
    arena[at] = kind == 0 ? ((const u8*)from)[at - payload] : pattern(poison, at);
}

// Words: arena, begin, payload, bytes, end, master address (0: not compared), -, -, canary seed. found[2y] becomes 1
// when a canary fell, found[2y + 1] when the payload is not as the master.
extern "C" __global__ void hone_inspect(const u64* table, u32* found) {
  const u64* item = table + (u64)blockIdx.y * kWords;
  const u8* const arena = (const u8*)item[0];
  const u64 payload = item[2], bytes = item[3], words = bytes / 4;
  u32 fell = 0, changed = 0;
  for (u64 at = item[1] + first(); at < payload; at += stride()) fell |= arena[at] != pattern(item[8], at);
  for (u64 at = payload + bytes + first(); at < item[4]; at += stride()) fell |= arena[at] != pattern(item[8], at);
  if (fell) found[2 * blockIdx.y] = 1;
  if (item[5] == 0) return;
  const u32 *now = (const u32*)(arena + payload), *master = (const u32*)item[5];
  const u64 chunks = holds_chunks((u64)now, (u64)master) ? words / 4 : 0;
  compare_chunks((u64)now, item[5], chunks, [&](u64) { changed = 1; });
  for (u64 i = 4 * chunks + first(); i < words; i += stride()) changed |= now[i] != master[i];
  for (u64 at = 4 * words + first(); at < bytes; at += stride())
    changed |= ((const u8*)now)[at] != ((const u8*)master)[at];
  if (changed) found[2 * blockIdx.y + 1] = 1;
}

// ---- comparing ----
/// The sum of the squares of a thread's elements, without elements whose magnitude is above `most`.
template <int dtype>
__device__ inline double sum_of_squares(u64 address, u64 at, u64 to, u64 step, double most) {
  double sum = 0;
  for (; at + (kAtOnce - 1) * step < to; at += kAtOnce * step) {
    double read[kAtOnce];
    for (int n = 0; n < kAtOnce; ++n) read[n] = element(address, dtype, at + n * step);
    for (int n = 0; n < kAtOnce; ++n) sum += fabs(read[n]) <= most ? read[n] * read[n] : 0;
  }
  for (; at < to; at += step) {
    const double x = element(address, dtype, at);
    if (fabs(x) <= most) sum += x * x;
  }
  return sum;
}

// Words: got, expected, dtype, count, elements of a stretch that shares one RMS,
// atol, rtol, rms (doubles), place of its sums, scale in the place of the RMS (double, 0: none), whether the errors of
// all elements are added up, the largest number that counts for the RMS (double), dtype of expected. A team of neighbouring
// threads adds up one piece of a stretch. Its reads are coalesced, which is faster.
extern "C" __global__ void hone_rms(const u64* table, double* sums) {
  const u64* item = table + (u64)blockIdx.y * kWords;
  const u64 expected = item[1], count = item[3], step = item[4], place = item[8], dtype = item[12];
  const double most = double_of(item[11]);
  if (double_of(item[7]) <= 0 || (item[2] != kF32 && item[2] != kF64 && item[2] != kF16 && item[2] != kBF16)) return;
  // Large pieces of large stretches, so that few threads add to the same sum.
  const u64 team = step < 1024 ? 1 : 32, share = (step + stride() - 1) / stride(), each = share > 256 ? share : 256;
  const u64 piece = team * each, pieces = (step + piece - 1) / piece, stretches = (count + step - 1) / step;
  for (u64 i = first() / team; i < stretches * pieces; i += stride() / team) {
    const u64 stretch = i / pieces, from = stretch * step + i % pieces * piece;
    u64 to = from + piece, end = (stretch + 1) * step;
    end = end < count ? end : count;
    to = to < end ? to : end;
    const u64 begin = from + first() % team;
    double sum = 0;
    switch (dtype) {
      case kF32: sum = sum_of_squares<kF32>(expected, begin, to, team, most); break;
      case kF16: sum = sum_of_squares<kF16>(expected, begin, to, team, most); break;
      case kBF16: sum = sum_of_squares<kBF16>(expected, begin, to, team, most); break;
      default: sum = sum_of_squares<kF64>(expected, begin, to, team, most); break;
    }
    if (sum != 0) atomicAdd(sums + place + stretch, sum);
  }
}

// Words as hone_rms. `samples` holds `most` values for each item, as sampled_place() in core/judge/compare.cpp chooses
// them.
extern "C" __global__ void hone_sample(const u64* table, double* samples, u64 most) {
  const u64* item = table + (u64)blockIdx.y * kWords;
  const u64 count = item[3], some = count < most ? count : most;
  for (u64 i = first(); i < some; i += stride()) {
    const u64 mixed = (i + 1) * 0x9E3779B97F4A7C15ull;
    const u64 place = count <= most ? i : (mixed >> 32) * count >> 32;
    samples[blockIdx.y * most + i] = element(item[1], item[12], place);
  }
}

__device__ inline double largest_of(u64 dtype) {
  switch (dtype) {
    case kF32: return 3.4028234663852886e38;
    case kF16: return 65504.0;
    case kBF16: return 3.3895313892515355e38;
    default: return 1.7976931348623157e308;
  }
}
__device__ inline bool is_infinite(double x) { return fabs(x) > 1.7976931348623157e308; }

__device__ inline bool acceptable(double got, double expected, double limit, double most) {
  if (expected != expected) return got != got;
  if (is_infinite(expected)) return got == expected;
  if (fabs(expected) > most && is_infinite(got)) return (got > 0) == (expected > 0);
  return fabs(got - expected) <= limit;
}

// results[4y]: elements outside; [4y + 1]: NaNs among them; [4y + 2]: the worst one, as badness above and the
// complement of its index below, so that the greatest number is the first of the worst; [4y + 3]: where it was asked
// for, the sum of the squares of the errors over |expected| + scale, as a double.
extern "C" __global__ void hone_compare(const u64* table, const double* sums, u64* results) {
  const u64* item = table + (u64)blockIdx.y * kWords;
  const u64 dtype = item[2], count = item[3], step = item[4];
  const double atol = double_of(item[5]), rtol = double_of(item[6]), rms = double_of(item[7]);
  const double given = double_of(item[9]), most = largest_of(dtype);
  const u64 got_at = item[0], expected_at = item[1], expected_dtype = item[12];
  const bool floats = dtype == kF32 || dtype == kF64 || dtype == kF16 || dtype == kBF16, adds = item[10] != 0;
  const bool scales = floats && given <= 0 && rms > 0, by_stretch = scales && step < count;
  double scale = given > 0 ? given : 0;
  if (scales && !by_stretch) scale = sqrt(sums[item[8]] / (double)count);
  u64 wrong = 0, nans = 0, worst = 0;
  double squares = 0;
  const auto look = [&](u64 i) {
    const double got = element(got_at, dtype, i), expected = element(expected_at, expected_dtype, i);
    if (floats && got == expected) return;  // no error; most elements of an honest answer
    double badness = fabs(got - expected);
    bool outside = true;
    if (floats) {
      if (by_stretch) {
        const u64 stretch = i / step, left = count - stretch * step;
        scale = sqrt(sums[item[8] + stretch] / (double)(left < step ? left : step));
      }
      const double limit = (rms > 0 ? atol + rms * scale : atol) + rtol * fabs(expected);
      outside = !acceptable(got, expected, limit, most);
      if (adds && badness - atol > 0 && badness <= 1e300) {
        const double error = (badness - atol) / (fabs(expected) + scale);
        if (error <= 1e150) squares += error * error;
      } else if (!outside) {
        return;
      }
      nans += outside && got != got && expected == expected;
      // In single precision if the range allows it: a double division takes as long as all other work for an element.
      const double divisor = limit > 1e-300 ? limit : 1e-300;
      if (dtype != kF64 && badness < 1e37 && divisor > 1e-37) {
        badness = (float)badness / (float)divisor;
      } else {
        badness = badness <= 1e300 ? badness / divisor : 1e300;
      }
    } else if (dtype == kI64 ? ((const i64*)got_at)[i] == ((const i64*)expected_at)[i] : got == expected) {
      return;
    }
    wrong += outside;
    const u64 key = (u64)bits_of((float)(badness < 3e38 ? badness : 3e38)) << 32 | (0xffffffffu - (u32)i);
    worst = key > worst ? key : worst;
  };
  // Chunks with equal bits have no error in any type, so only others are compared by element.
  const u64 each = 16 / size_of(dtype);
  const u64 chunks = dtype == expected_dtype && holds_chunks(got_at, expected_at) ? count / each : 0;
  compare_chunks(got_at, expected_at, chunks, [&](u64 chunk) {
    for (u64 i = chunk * each; i < (chunk + 1) * each; ++i) look(i);
  });
  for (u64 i = chunks * each + first(); i < count; i += stride()) look(i);
  if (worst == 0) return;
  atomicAdd(results + 4 * blockIdx.y, wrong);
  atomicAdd(results + 4 * blockIdx.y + 1, nans);
  atomicMax(results + 4 * blockIdx.y + 2, worst);
  if (squares > 0) atomicAdd((double*)(results + 4 * blockIdx.y + 3), squares);
}
