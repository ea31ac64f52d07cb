// A counter-based generator: element i depends on (seed, i) alone, so loops vectorise and any part
// can be made again.
#include "judge/fill.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "base/crypto.hpp"
#include "judge/wide.hpp"

namespace hone {
namespace {

/// 32 well-mixed bits of (seed, counter).
inline std::uint32_t mix(std::uint32_t low, std::uint32_t high, std::uint32_t counter) {
  std::uint32_t x = counter * 0x9E3779B1u + low;
  x ^= x >> 16;
  x *= 0x7FEB352Du;
  x ^= (x >> 15) + high;
  x *= 0x846CA68Bu;
  x ^= x >> 16;
  return x;
}

struct Stream {
  explicit Stream(std::uint64_t seed)
      : low(static_cast<std::uint32_t>(seed)), high(static_cast<std::uint32_t>(seed >> 32)) {}
  std::uint32_t bits(std::uint64_t i) const {
    // The upper half of a large counter is folded into the key.
    return mix(low ^ (static_cast<std::uint32_t>(i >> 32) * 0x85EBCA6Bu), high,
               static_cast<std::uint32_t>(i));
  }
  /// [0, 1), 24 bits.
  float unit(std::uint64_t i) const { return static_cast<float>(bits(i) >> 8) * 0x1p-24f; }
  /// Mean 0, standard deviation 1, within ±3.46: the sum of four 16-bit uniforms.
  float normal(std::uint64_t i) const {
    const std::uint32_t a = bits(2 * i), b = bits(2 * i + 1);
    const auto sum =
        static_cast<std::int32_t>((a & 0xffff) + (a >> 16) + (b & 0xffff) + (b >> 16)) - 131070;
    return static_cast<float>(sum) * (1.0f / 37837.2f);
  }
  std::uint32_t low, high;
};

/// Floats of 16 bits are rounded from the float.
template <typename T>
constexpr bool kSmallFloat = std::is_same_v<T, Half> || std::is_same_v<T, Bfloat16>;

template <typename T>
T to_element(double value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else if constexpr (kSmallFloat<T>) {
    return T(static_cast<float>(value));
  } else {
    const double low = static_cast<double>(std::numeric_limits<T>::lowest());
    const double high = static_cast<double>(std::numeric_limits<T>::max());
    if (value <= low) return std::numeric_limits<T>::lowest();
    if (value >= high) return std::numeric_limits<T>::max();
    return static_cast<T>(std::llrint(value));
  }
}

/// out[i] = make(i), converted.
template <typename T, typename Make>
void each(T* out, std::uint64_t count, Make make) {
  for (std::uint64_t i = 0; i < count; ++i) {
    if constexpr (std::is_same_v<T, float> && std::is_same_v<decltype(make(i)), float>) {
      out[i] = make(i);
    } else {
      out[i] = to_element<T>(static_cast<double>(make(i)));
    }
  }
}

template <typename T>
T whole_number(std::int64_t value) {
  if constexpr (kSmallFloat<T>) {
    return T(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

template <typename T>
void fill_integers(T* out, std::uint64_t count, const Generator& g, const Stream& s) {
  const auto low = static_cast<std::int64_t>(std::llround(g.a));
  const auto high = std::max(low, static_cast<std::int64_t>(std::llround(g.b)));
  const std::uint64_t span = static_cast<std::uint64_t>(high - low) + 1;
  if (span <= (std::uint64_t{1} << 32)) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t at = (std::uint64_t{s.bits(i)} * span) >> 32;
      out[i] = whole_number<T>(low + static_cast<std::int64_t>(at));
    }
    return;
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t wide = std::uint64_t{s.bits(2 * i)} << 32 | s.bits(2 * i + 1);
    out[i] = whole_number<T>(low + static_cast<std::int64_t>(wide % span));
  }
}

template <typename T>
void fill_scaled(T* out, std::uint64_t count, const Generator& g, const Stream& s,
                 std::uint64_t seed) {
  const auto low = static_cast<std::int64_t>(std::llround(g.a));
  const auto high = std::max(low, static_cast<std::int64_t>(std::llround(g.b)));
  const float scale =
      std::ldexp(1.0f, static_cast<int>(draw_integer(derive_seed(seed, "scale"), low, high)));
  const float offset = static_cast<float>(draw(derive_seed(seed, "offset"), -3.0, 3.0)) * scale;
  each(out, count, [=](std::uint64_t i) { return s.normal(i) * scale + offset; });
}

/// Monotone, from 0 to a·(count − 1): the offsets of count − 1 segments of `a` elements on average, which
/// grow with the power b − 1 of their place. Each operation rounds once, so that a device makes the same.
template <typename T>
void fill_offsets(T* out, std::uint64_t count, const Generator& g, const Stream& s) {
  const double last = static_cast<double>(std::max<std::uint64_t>(count, 2) - 1);
  const auto power = static_cast<int>(std::clamp(std::rint(g.b), 1.0, 4.0));
  const double total = std::rint(g.a) * last;
  for (std::uint64_t i = 0; i < count; ++i) {
    const bool inner = i > 0 && i + 1 < count;
    const double jitter = inner ? static_cast<double>(s.unit(i)) - 0.5 : 0.0;
    const double place = (static_cast<double>(i) + jitter) / last;
    double raised = place;
    for (int n = 1; n < power; ++n) raised *= place;
    out[i] = to_element<T>(raised * total);
  }
}

HONE_WIDE void fill_normal(float* out, std::uint64_t count, float mean, float deviation, Stream s) {
  for (std::uint64_t i = 0; i < count; ++i) out[i] = mean + s.normal(i) * deviation;
}

HONE_WIDE void fill_uniform(float* out, std::uint64_t count, float low, float high, Stream s) {
  for (std::uint64_t i = 0; i < count; ++i) out[i] = low + (high - low) * s.unit(i);
}

/// Words first … first + count of the pattern.
HONE_WIDE void fill_words(char* out, std::uint64_t first, std::uint64_t count, Stream s) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint32_t word = s.bits(first + i);
    std::memcpy(out + 4 * i, &word, sizeof word);
  }
}

template <typename T>
void fill(T* out, std::uint64_t count, const Generator& g, std::uint64_t seed) {
  const Stream s(seed);
  const auto a = static_cast<float>(g.a), b = static_cast<float>(g.b);
  if constexpr (std::is_same_v<T, float>) {
    if (g.kind == "normal") return fill_normal(out, count, a, b, s);
    if (g.kind == "uniform") return fill_uniform(out, count, a, b, s);
  }
  if (g.kind == "uniform") {
    each(out, count, [=](std::uint64_t i) { return a + (b - a) * s.unit(i); });
  } else if (g.kind == "integers") {
    fill_integers(out, count, g, s);
  } else if (g.kind == "constant") {
    each(out, count, [=](std::uint64_t) { return a; });
  } else if (g.kind == "cancel") {
    each(out, count, [=](std::uint64_t i) {
      const float value = s.normal(i & ~std::uint64_t{1}) * b;
      return (i & 1) == 0 ? value : -value + s.normal(i) * (b * 0x1p-10f);
    });
  } else if (g.kind == "scaled") {
    fill_scaled(out, count, g, s, seed);
  } else if (g.kind == "ties") {
    const std::uint32_t values =
        std::max(2u, static_cast<std::uint32_t>(std::clamp(g.a, 0.0, 1e9)));
    const Stream palette(derive_seed(seed, "palette"));
    each(out, count, [=](std::uint64_t i) { return palette.normal(s.bits(i) % values) * b; });
  } else if (g.kind == "sparse") {
    const Stream zero(derive_seed(seed, "zero"));
    each(out, count, [=](std::uint64_t i) { return zero.unit(i) < a ? 0.0f : s.normal(i) * b; });
  } else if (g.kind == "ramp") {
    each(out, count, [&](std::uint64_t i) { return g.a + g.b * static_cast<double>(i); });
  } else if (g.kind == "offsets") {
    fill_offsets(out, count, g, s);
  } else {  // "normal"
    each(out, count, [=](std::uint64_t i) { return a + s.normal(i) * b; });
  }
}

}  // namespace

std::uint64_t derive_seed(std::uint64_t master, std::string_view label, std::uint64_t a,
                          std::uint64_t b, std::uint64_t c) {
  std::string text(label);
  for (const std::uint64_t part : {master, a, b, c}) {
    text.append(reinterpret_cast<const char*>(&part), sizeof part);
  }
  const Sha256 digest = sha256(text);
  std::uint64_t seed = 0;
  std::memcpy(&seed, digest.data(), sizeof seed);
  return seed;
}

void fill_tensor(void* to, DType dtype, std::uint64_t count, const Generator& generator,
                 std::uint64_t seed) {
  switch (dtype) {
    case DType::kF32:
      return fill(static_cast<float*>(to), count, generator, seed);
    case DType::kF64:
      return fill(static_cast<double*>(to), count, generator, seed);
    case DType::kI8:
      return fill(static_cast<std::int8_t*>(to), count, generator, seed);
    case DType::kU8:
      return fill(static_cast<std::uint8_t*>(to), count, generator, seed);
    case DType::kI32:
      return fill(static_cast<std::int32_t*>(to), count, generator, seed);
    case DType::kU32:
      return fill(static_cast<std::uint32_t*>(to), count, generator, seed);
    case DType::kI64:
      return fill(static_cast<std::int64_t*>(to), count, generator, seed);
    case DType::kF16:
      return fill(static_cast<Half*>(to), count, generator, seed);
    case DType::kBF16:
      return fill(static_cast<Bfloat16*>(to), count, generator, seed);
  }
}

void write_pattern(char* base, std::uint64_t from, std::uint64_t to, std::uint64_t seed) {
  const Stream s(seed);
  const auto byte = [&](std::uint64_t at) {
    return static_cast<char>(s.bits(at / 4) >> (8 * (at & 3)));
  };
  for (; from < to && (from & 3) != 0; ++from) base[from] = byte(from);
  const std::uint64_t words = from < to ? (to - from) / 4 : 0;
  fill_words(base + from, from / 4, words, s);
  from += 4 * words;
  for (; from < to; ++from) base[from] = byte(from);
}

bool pattern_stands(const char* base, std::uint64_t from, std::uint64_t to, std::uint64_t seed) {
  const Stream s(seed);
  for (std::uint64_t at = from; at < to; ++at) {
    if (base[at] != static_cast<char>(s.bits(at / 4) >> (8 * (at & 3)))) return false;
  }
  return true;
}

double draw(std::uint64_t seed, double low, double high) {
  const Stream s(seed);
  const std::uint64_t bits = std::uint64_t{s.bits(0)} << 21 ^ s.bits(1);
  return low + (high - low) * (static_cast<double>(bits) * 0x1p-53);
}

std::int64_t draw_integer(std::uint64_t seed, std::int64_t low, std::int64_t high) {
  if (high <= low) return low;
  const std::uint64_t span = static_cast<std::uint64_t>(high - low) + 1;
  return low + static_cast<std::int64_t>(derive_seed(seed, "integer") % span);
}

}  // namespace hone
