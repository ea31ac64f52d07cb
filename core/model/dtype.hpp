// DType: the element types of tensors and scalars, with the two 16-bit floats that C++20 lacks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace hone {

enum class DType { kF32, kF64, kI8, kU8, kI32, kU32, kI64, kF16, kBF16 };
std::size_t dtype_size(DType dtype);         ///< bytes per element
std::string_view dtype_name(DType dtype);    ///< "f32", …
std::string_view dtype_c_name(DType dtype);  ///< "float", "int8_t", "__half", …
bool dtype_is_float(DType dtype);
/// Whether a scalar may have this type. 16-bit floats are passed in tensors only.
bool dtype_is_scalar(DType dtype);
Result<DType> parse_dtype(std::string_view name);
std::vector<std::string> dtype_names();

/// IEEE 754 binary16: 1 sign, 5 exponent and 10 fraction bits. From a float it is rounded to
/// nearest, ties to even; above 65519 it becomes infinite, below 2^-14 it is subnormal.
struct Half {
  Half() = default;
  explicit Half(float value);
  operator float() const;
  std::uint16_t bits = 0;
};

/// bfloat16: the upper half of a float. From a float it is rounded to nearest, ties to even.
struct Bfloat16 {
  Bfloat16() = default;
  explicit Bfloat16(float value);
  operator float() const;
  std::uint16_t bits = 0;
};

}  // namespace hone
