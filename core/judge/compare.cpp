// A fast pass that counts, and a slow one that explains, which only wrong answers pay for.
#include "judge/compare.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "judge/wide.hpp"

namespace hone {
namespace {

constexpr std::uint64_t kLanes = 16;

/// Root mean square of the exact values; non-finite ones are left out. The sum is taken in lanes,
/// so that it vectorises and is the same however wide the machine is.
HONE_WIDE double rms(const double* values, std::uint64_t count) {
  double lanes[kLanes] = {};
  std::uint64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::uint64_t j = 0; j < kLanes; ++j) {
      const double x = values[i + j];
      lanes[j] += std::fabs(x) <= 1e300 ? x * x : 0.0;
    }
  }
  double sum = 0;
  for (; i < count; ++i) sum += std::fabs(values[i]) <= 1e300 ? values[i] * values[i] : 0.0;
  for (const double lane : lanes) sum += lane;
  return std::sqrt(sum / static_cast<double>(count));
}

/// How many elements are outside; written so that NaN anywhere counts as outside, and the slow pass
/// decides.
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

bool acceptable(double got, double expected, double limit) {
  if (std::isnan(expected)) return std::isnan(got);
  if (std::isinf(expected)) return got == expected;
  return std::fabs(got - expected) <= limit;
}

/// Adds one row's wrong elements to the mismatch; `at` is the row's first element.
template <typename T>
void explain(Mismatch& m, double& worst, const T* got, const double* expected, std::uint64_t count,
             double base, double rtol, std::uint64_t at) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const double value = static_cast<double>(got[i]);
    const double limit = base + rtol * std::fabs(expected[i]);
    if (acceptable(value, expected[i], limit)) continue;
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

template <typename T>
std::optional<Mismatch> compare_floats(const T* got, const double* expected, std::uint64_t count,
                                       std::uint64_t row, const Tolerance& t) {
  const std::uint64_t step = t.rms > 0 && t.rms_per_row ? std::max<std::uint64_t>(row, 1) : count;
  Mismatch m;
  double worst = -1;
  for (std::uint64_t at = 0; at < count; at += step) {
    const std::uint64_t n = std::min(step, count - at);
    const double base = t.atol + (t.rms > 0 ? t.rms * rms(expected + at, n) : 0.0);
    if (count_outside(got + at, expected + at, n, base, t.rtol) == 0) continue;
    explain(m, worst, got + at, expected + at, n, base, t.rtol, at);
  }
  m.total = static_cast<std::int64_t>(count);
  return m.wrong == 0 ? std::nullopt : std::optional(m);
}

template <typename T>
std::optional<Mismatch> compare_integers(const T* got, const T* expected, std::uint64_t count) {
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
  return m;
}

template <typename T>
std::optional<Mismatch> integers(const void* got, const void* expected, std::uint64_t count) {
  return compare_integers(static_cast<const T*>(got), static_cast<const T*>(expected), count);
}

template <typename T>
double share_of_floats(const T* got, const double* expected, std::uint64_t count, std::uint64_t row,
                       const Tolerance& t) {
  const std::uint64_t step = t.rms > 0 && t.rms_per_row ? std::max<std::uint64_t>(row, 1) : count;
  double share = 0;
  for (std::uint64_t at = 0; at < count; at += step) {
    const std::uint64_t n = std::min(step, count - at);
    const double base = t.atol + (t.rms > 0 ? t.rms * rms(expected + at, n) : 0.0);
    for (std::uint64_t i = at; i < at + n; ++i) {
      const double value = static_cast<double>(got[i]);
      const double limit = base + t.rtol * std::fabs(expected[i]);
      const double error = std::fabs(value - expected[i]);
      if (acceptable(value, expected[i], 0)) continue;
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

std::optional<Mismatch> compare_output(const void* got, const void* expected, DType dtype,
                                       std::uint64_t count, std::uint64_t row,
                                       const Tolerance& tolerance) {
  const auto* exact = static_cast<const double*>(expected);
  switch (dtype) {
    case DType::kF32:
      return compare_floats(static_cast<const float*>(got), exact, count, row, tolerance);
    case DType::kF64:
      return compare_floats(static_cast<const double*>(got), exact, count, row, tolerance);
    case DType::kI8:
      return integers<std::int8_t>(got, expected, count);
    case DType::kU8:
      return integers<std::uint8_t>(got, expected, count);
    case DType::kI32:
      return integers<std::int32_t>(got, expected, count);
    case DType::kU32:
      return integers<std::uint32_t>(got, expected, count);
    case DType::kI64:
      return integers<std::int64_t>(got, expected, count);
    case DType::kF16:
      return compare_floats(static_cast<const Half*>(got), exact, count, row, tolerance);
    case DType::kBF16:
      return compare_floats(static_cast<const Bfloat16*>(got), exact, count, row, tolerance);
  }
  return std::nullopt;
}

}  // namespace hone
