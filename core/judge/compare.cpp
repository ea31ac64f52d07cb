// A fast pass that counts, and a slow one that finds the worst element, which only wrong outputs need.
#include "judge/compare.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "judge/wide.hpp"

namespace hone {
namespace {

constexpr std::uint64_t kLanes = 16;
constexpr double kSquareable = 1e300;

/// Root mean square of the exact values up to `most`. The sum is taken in lanes,
/// so that it vectorises and is the same however wide the machine is.
HONE_WIDE double rms(const double* values, std::uint64_t count, double most) {
  double lanes[kLanes] = {};
  std::uint64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::uint64_t j = 0; j < kLanes; ++j) {
      const double x = values[i + j];
      lanes[j] += std::fabs(x) <= most ? x * x : 0.0;
    }
  }
  double sum = 0;
  for (; i < count; ++i) sum += std::fabs(values[i]) <= most ? values[i] * values[i] : 0.0;
  for (const double lane : lanes) sum += lane;
  return std::sqrt(sum / static_cast<double>(count));
}

/// Number of elements outside the tolerance. NaN always counts as outside, and the slow pass decides.
HONE_WIDE std::uint64_t count_outside(const float* got, const double* expected, std::uint64_t count,
                                      double base, double rtol) {
  std::uint64_t outside = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const double error = std::fabs(static_cast<double>(got[i]) - expected[i]);
    outside += !(error <= base + rtol * std::fabs(expected[i])) ? 1u : 0u;
  }
  return outside;
}

HONE_WIDE std::uint64_t count_outside(const double* got, const double* expected,
                                      std::uint64_t count, double base, double rtol) {
  std::uint64_t outside = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    outside += !(std::fabs(got[i] - expected[i]) <= base + rtol * std::fabs(expected[i])) ? 1u : 0u;
  }
  return outside;
}

/// Half and Bfloat16.
template <typename T>
std::uint64_t count_outside(const T* got, const double* expected, std::uint64_t count, double base,
                            double rtol) {
  std::uint64_t outside = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const double error = std::fabs(static_cast<double>(got[i]) - expected[i]);
    outside += !(error <= base + rtol * std::fabs(expected[i])) ? 1u : 0u;
  }
  return outside;
}

/// `most`: the largest finite number of the output's dtype.
bool acceptable(double got, double expected, double limit, double most) {
  if (std::isnan(expected)) return std::isnan(got);
  if (std::isinf(expected)) return got == expected;
  if (std::fabs(expected) > most && std::isinf(got)) return (got > 0) == (expected > 0);
  return std::fabs(got - expected) <= limit;
}

/// The root mean square of |got − expected| / (|expected| + scale). Errors below `least` and non-finite elements count as 0.
template <typename T>
double error_norm(const T* got, const double* expected, std::uint64_t count, double scale,
                  double least) {
  double lanes[kLanes] = {};
  for (std::uint64_t i = 0; i < count; ++i) {
    const double error = std::fabs(static_cast<double>(got[i]) - expected[i]) - least;
    const double relative = error / (std::fabs(expected[i]) + scale);
    lanes[i % kLanes] += error > 0 && relative <= 1e150 ? relative * relative : 0.0;
  }
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return std::sqrt(sum / static_cast<double>(count));
}

/// Adds one row's wrong elements to the mismatch; `at` is the row's first element.
template <typename T>
void explain(Mismatch& m, double& worst, const T* got, const double* expected, std::uint64_t count,
             double base, double rtol, std::uint64_t at, double most) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const double value = static_cast<double>(got[i]);
    const double limit = base + rtol * std::fabs(expected[i]);
    if (acceptable(value, expected[i], limit, most)) continue;
    ++m.wrong;
    if (std::isnan(value) && !std::isnan(expected[i])) ++m.nans;
    const double error = std::fabs(value - expected[i]);
    const double badness = std::isfinite(error) ? error / std::max(limit, 1e-300) : HUGE_VAL;
    if (m.wrong == 1 || badness > worst) {
      worst = badness;
      m.index = {static_cast<std::int64_t>(at + i)};
      m.got = value;
      m.expected = expected[i];
      m.tolerance = limit;
    }
  }
}

std::vector<double> sample_of(const double* values, std::uint64_t count) {
  std::vector<double> sample(std::min(count, kSample));
  for (std::uint64_t i = 0; i < sample.size(); ++i) sample[i] = values[sampled_place(i, count)];
  return sample;
}

/// Names the element that is the furthest off, of a tensor whose errors are too large together.
template <typename T>
void name_furthest(Mismatch& m, const T* got, const double* expected, std::uint64_t count,
                   double scale) {
  double worst = -1;
  for (std::uint64_t i = 0; i < count; ++i) {
    const double error = std::fabs(static_cast<double>(got[i]) - expected[i]);
    const double relative = error / (std::fabs(expected[i]) + scale);
    if (!(relative > worst)) continue;
    worst = relative;
    m.index = {static_cast<std::int64_t>(i)};
    m.got = static_cast<double>(got[i]);
    m.expected = expected[i];
  }
}

template <typename T>
std::optional<Mismatch> compare_floats(const T* got, const double* expected, std::uint64_t count,
                                       std::uint64_t row, DType dtype, const OutputTolerance& o) {
  const bool measured = o.usual.from_reference;
  const double whole =
      measured ? rms(expected, count, std::min(largest_of(dtype), kSquareable)) : 0;
  const Held held =
      held_to(o, whole, measured ? small_scale(sample_of(expected, count), whole, dtype) : 0);
  const Tolerance& t = *held.tolerance;
  const std::uint64_t step = t.rms > 0 && t.rms_per_row ? std::max<std::uint64_t>(row, 1) : count;
  Mismatch m;
  double worst = -1;
  for (std::uint64_t at = 0; at < count; at += step) {
    const std::uint64_t n = std::min(step, count - at);
    const double scale = measured ? held.scale : t.rms > 0 ? rms(expected + at, n, kSquareable) : 0;
    const double base = t.atol + (t.rms > 0 ? t.rms * scale : 0.0);
    if (count_outside(got + at, expected + at, n, base, t.rtol) == 0) continue;
    explain(m, worst, got + at, expected + at, n, base, t.rtol, at, largest_of(dtype));
  }
  m.total = static_cast<std::int64_t>(count);
  if (!may_be_outside(o, m.wrong, count)) return m;
  if (t.norm <= 0) return std::nullopt;
  const double scale = std::max(held.scale, smallest_of(dtype));
  const double norm = error_norm(got, expected, count, scale, t.atol);
  if (norm <= t.norm) return std::nullopt;
  m.norm = norm;
  m.norm_allowed = t.norm;
  name_furthest(m, got, expected, count, scale);
  return m;
}

template <typename T>
std::optional<Mismatch> compare_integers(const T* got, const T* expected, std::uint64_t count,
                                         const OutputTolerance& tolerance) {
  if (std::memcmp(got, expected, count * sizeof(T)) == 0) return std::nullopt;
  Mismatch m;
  double worst = -1;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (got[i] == expected[i]) continue;
    ++m.wrong;
    const double error = std::fabs(static_cast<double>(got[i]) - static_cast<double>(expected[i]));
    if (error <= worst) continue;
    worst = error;
    m.index = {static_cast<std::int64_t>(i)};
    m.got = static_cast<double>(got[i]);
    m.expected = static_cast<double>(expected[i]);
  }
  m.total = static_cast<std::int64_t>(count);
  return may_be_outside(tolerance, m.wrong, count) ? std::nullopt : std::optional(m);
}

template <typename T>
std::optional<Mismatch> integers(const void* got, const void* expected, std::uint64_t count,
                                 const OutputTolerance& tolerance) {
  return compare_integers(static_cast<const T*>(got), static_cast<const T*>(expected), count,
                          tolerance);
}

template <typename T>
double share_of_floats(const T* got, const double* expected, std::uint64_t count, std::uint64_t row,
                       const Tolerance& t) {
  const std::uint64_t step = t.rms > 0 && t.rms_per_row ? std::max<std::uint64_t>(row, 1) : count;
  double share = 0;
  for (std::uint64_t at = 0; at < count; at += step) {
    const std::uint64_t n = std::min(step, count - at);
    const double base = t.atol + (t.rms > 0 ? t.rms * rms(expected + at, n, kSquareable) : 0.0);
    for (std::uint64_t i = at; i < at + n; ++i) {
      const double value = static_cast<double>(got[i]);
      const double limit = base + t.rtol * std::fabs(expected[i]);
      const double error = std::fabs(value - expected[i]);
      if (acceptable(value, expected[i], 0, HUGE_VAL)) continue;
      share = std::max(share, std::isfinite(error) && limit > 0 ? error / limit : HUGE_VAL);
    }
  }
  return share;
}

template <typename T>
double read_at(const void* tensor, std::uint64_t i) {
  T value{};
  std::memcpy(&value, static_cast<const char*>(tensor) + i * sizeof(T), sizeof(T));
  return static_cast<double>(value);
}

}  // namespace

double element_at(const void* tensor, DType dtype, std::uint64_t i) {
  switch (dtype) {
    case DType::kF32:
      return read_at<float>(tensor, i);
    case DType::kF64:
      return read_at<double>(tensor, i);
    case DType::kI8:
      return read_at<std::int8_t>(tensor, i);
    case DType::kU8:
      return read_at<std::uint8_t>(tensor, i);
    case DType::kI32:
      return read_at<std::int32_t>(tensor, i);
    case DType::kU32:
      return read_at<std::uint32_t>(tensor, i);
    case DType::kI64:
      return read_at<std::int64_t>(tensor, i);
    case DType::kF16:
      return read_at<Half>(tensor, i);
    case DType::kBF16:
      return read_at<Bfloat16>(tensor, i);
  }
  return 0;
}

double error_share(const void* got, const void* expected, DType dtype, std::uint64_t count,
                   std::uint64_t row, const Tolerance& tolerance) {
  const auto* exact = static_cast<const double*>(expected);
  if (dtype == DType::kF32)
    return share_of_floats(static_cast<const float*>(got), exact, count, row, tolerance);
  if (dtype == DType::kF64)
    return share_of_floats(static_cast<const double*>(got), exact, count, row, tolerance);
  if (dtype == DType::kF16)
    return share_of_floats(static_cast<const Half*>(got), exact, count, row, tolerance);
  if (dtype == DType::kBF16)
    return share_of_floats(static_cast<const Bfloat16*>(got), exact, count, row, tolerance);
  return compare_output(got, expected, dtype, count, row, tolerance) ? HUGE_VAL : 0.0;
}

OutputTolerance same_for_all(const Tolerance& tolerance) { return {tolerance, tolerance, 0}; }

double largest_of(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return std::numeric_limits<float>::max();
    case DType::kF16:
      return 65504;
    case DType::kBF16:
      return 0x1.fep127;
    default:
      return std::numeric_limits<double>::max();
  }
}

double smallest_of(DType dtype) {
  switch (dtype) {
    case DType::kF32:
    case DType::kBF16:
      return std::numeric_limits<float>::min();
    case DType::kF16:
      return 0x1p-24;
    default:
      return std::numeric_limits<double>::min();
  }
}

std::uint64_t sampled_place(std::uint64_t i, std::uint64_t count) {
  if (count <= kSample) return i;
  const std::uint64_t mixed = (i + 1) * 0x9E3779B97F4A7C15u;
  return (mixed >> 32) * count >> 32;
}

double small_scale(std::vector<double> sample, double rms, DType dtype) {
  constexpr double kSmallShare = 0.02, kWideRatio = 1e-5,
                   kWideScale = 8;  // as in module_precision.py
  std::erase_if(sample, [&](double& value) {
    value = std::fabs(value);
    return !(value >= smallest_of(dtype) && value <= largest_of(dtype));
  });
  if (sample.empty()) return 0;
  const auto rank = static_cast<std::ptrdiff_t>(kSmallShare * static_cast<double>(sample.size()));
  const auto place = sample.begin() + std::max<std::ptrdiff_t>(rank - 1, 0);
  std::nth_element(sample.begin(), place, sample.end());
  return *place < kWideRatio * rms ? kWideScale * *place : 0;
}

Held held_to(const OutputTolerance& tolerance, double rms, double small) {
  if (small > 0) return {&tolerance.wide, small};
  return {&tolerance.usual, rms};
}

bool may_be_outside(const OutputTolerance& tolerance, std::int64_t outside, std::uint64_t count) {
  return static_cast<double>(outside) <= tolerance.share * static_cast<double>(count);
}

std::optional<Mismatch> compare_output(const void* got, const void* expected, DType dtype,
                                       std::uint64_t count, std::uint64_t row,
                                       const Tolerance& tolerance) {
  return compare_output(got, expected, dtype, count, row, same_for_all(tolerance));
}

std::optional<Mismatch> compare_output(const void* got, const void* expected, DType dtype,
                                       std::uint64_t count, std::uint64_t row,
                                       const OutputTolerance& tolerance) {
  const auto* exact = static_cast<const double*>(expected);
  switch (dtype) {
    case DType::kF32:
      return compare_floats(static_cast<const float*>(got), exact, count, row, dtype, tolerance);
    case DType::kF64:
      return compare_floats(static_cast<const double*>(got), exact, count, row, dtype, tolerance);
    case DType::kI8:
      return integers<std::int8_t>(got, expected, count, tolerance);
    case DType::kU8:
      return integers<std::uint8_t>(got, expected, count, tolerance);
    case DType::kI32:
      return integers<std::int32_t>(got, expected, count, tolerance);
    case DType::kU32:
      return integers<std::uint32_t>(got, expected, count, tolerance);
    case DType::kI64:
      return integers<std::int64_t>(got, expected, count, tolerance);
    case DType::kF16:
      return compare_floats(static_cast<const Half*>(got), exact, count, row, dtype, tolerance);
    case DType::kBF16:
      return compare_floats(static_cast<const Bfloat16*>(got), exact, count, row, dtype, tolerance);
  }
  return std::nullopt;
}

}  // namespace hone
