// The table of dtypes, and the rounding of 16-bit floats.
#include "model/dtype.hpp"

#include <bit>
#include <iterator>

namespace hone {
namespace {

struct DTypeFacts {
  std::string_view name, c_name;
  std::size_t size;
  bool is_float;
};
constexpr DTypeFacts kDTypes[] = {
    {"f32", "float", 4, true},    {"f64", "double", 8, true},   {"i8", "int8_t", 1, false},
    {"u8", "uint8_t", 1, false},  {"i32", "int32_t", 4, false}, {"u32", "uint32_t", 4, false},
    {"i64", "int64_t", 8, false}, {"f16", "__half", 2, true},   {"bf16", "__nv_bfloat16", 2, true},
};
const DTypeFacts& facts(DType dtype) { return kDTypes[static_cast<int>(dtype)]; }

constexpr std::uint32_t kInfinity = 0x7f800000;  // bits of a float, like those below
constexpr std::uint32_t kHalfOverflows =
    0x477ff000;  // 65520, the smallest number that rounds to infinity
constexpr std::uint32_t kHalfNormal = 0x38800000;      // 2^-14
constexpr std::uint32_t kBiasDifference = 0x38000000;  // (127 - 15) << 23

/// value / 2^shift, rounded to nearest, ties to even. 1 ≤ shift ≤ 31.
std::uint32_t shifted(std::uint32_t value, std::uint32_t shift) {
  const std::uint32_t low = value & ((1u << shift) - 1), tie = 1u << (shift - 1);
  const std::uint32_t whole = value >> shift;
  return whole + (low > tie || (low == tie && (whole & 1) != 0) ? 1 : 0);
}

std::uint32_t half_magnitude(std::uint32_t magnitude) {
  if (magnitude > kInfinity) return 0x7fff;
  if (magnitude >= kHalfOverflows) return 0x7c00;
  // A carry out of the fraction raises the exponent, as rounding up requires.
  if (magnitude >= kHalfNormal) return shifted(magnitude - kBiasDifference, 13);
  const std::uint32_t exponent = magnitude >> 23;
  if (exponent < 102) return 0;  // below 2^-25, half of the smallest subnormal
  return shifted((magnitude & 0x7fffff) | 0x800000, 126 - exponent);
}

}  // namespace

std::size_t dtype_size(DType dtype) { return facts(dtype).size; }
std::string_view dtype_name(DType dtype) { return facts(dtype).name; }
std::string_view dtype_c_name(DType dtype) { return facts(dtype).c_name; }
bool dtype_is_float(DType dtype) { return facts(dtype).is_float; }
bool dtype_is_scalar(DType dtype) { return dtype != DType::kF16 && dtype != DType::kBF16; }

Result<DType> parse_dtype(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kDTypes); ++i) {
    if (kDTypes[i].name == name) return static_cast<DType>(i);
  }
  return invalid_argument("no dtype is called '" + std::string(name.substr(0, 64)) + "'");
}

std::vector<std::string> dtype_names() {
  std::vector<std::string> names;
  for (const DTypeFacts& dtype : kDTypes) names.emplace_back(dtype.name);
  return names;
}

Half::Half(float value) {
  const auto raw = std::bit_cast<std::uint32_t>(value);
  bits = static_cast<std::uint16_t>((raw >> 16 & 0x8000) | half_magnitude(raw & 0x7fffffff));
}

Half::operator float() const {
  const std::uint32_t sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 0x1f;
  const std::uint32_t fraction = bits & 0x3ffu;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  const std::uint32_t raised = exponent == 0x1f ? kInfinity : (exponent << 23) + kBiasDifference;
  return std::bit_cast<float>(sign | raised | fraction << 13);
}

Bfloat16::Bfloat16(float value) {
  const auto raw = std::bit_cast<std::uint32_t>(value);
  if ((raw & 0x7fffffff) > kInfinity) {
    bits = static_cast<std::uint16_t>((raw >> 16 & 0x8000) | 0x7fff);
  } else {
    bits = static_cast<std::uint16_t>(shifted(raw, 16));
  }
}

Bfloat16::operator float() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

}  // namespace hone
