// In the place of torch's: tensors, their methods, and those operators that a source names.
#pragma once

#include <ATen/ATen.h>
#include <torch/version.h>

#include <optional>

namespace torch {

using namespace at;
using Dtype = at::ScalarType;
using std::nullopt;
using std::optional;

constexpr auto kUInt8 = at::kByte, kU8 = at::kByte;
constexpr auto kInt8 = at::kChar, kI8 = at::kChar;
constexpr auto kInt16 = at::kShort, kI16 = at::kShort;
constexpr auto kInt32 = at::kInt, kI32 = at::kInt;
constexpr auto kInt64 = at::kLong, kI64 = at::kLong;
constexpr auto kUInt16 = at::kUInt16, kU16 = at::kUInt16;
constexpr auto kUInt32 = at::kUInt32, kU32 = at::kUInt32;
constexpr auto kUInt64 = at::kUInt64, kU64 = at::kUInt64;
constexpr auto kFloat16 = at::kHalf, kF16 = at::kHalf;
constexpr auto kFloat32 = at::kFloat, kF32 = at::kFloat;
constexpr auto kFloat64 = at::kDouble, kF64 = at::kDouble;

// They mean something else in torch's own: literals of other types, and gradients. Who uses them, by whatever name,
// compiles with the whole headers.
template <typename... T>
at::Tensor tensor(T&&...) = delete;
template <typename... T>
at::TensorOptions requires_grad(T&&...) = delete;

}  // namespace torch
