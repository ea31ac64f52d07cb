// Reads and checks members of a recorded plan's maps: numbers, names, lists and offsets. Only
// recorded_plan_reader.hpp includes this file.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/recorded_plan.hpp"

namespace hone::recorded {

inline constexpr std::int64_t kNameBytesMax = 16384;  ///< mangled names of templates are long
inline constexpr std::int64_t kLibraryBytesMax = 255;
inline constexpr std::int64_t kTensorsMax = 1024;   ///< of one operator
inline constexpr std::int64_t kTensorDimsMax = 64;  ///< torch's limit
inline constexpr std::int64_t kSharedUngranted =
    49152;  ///< bytes that a kernel may use without a limit set by the host
inline constexpr std::int64_t kSharedBytesMax = 1 << 20;
inline constexpr std::int64_t kGridMax = 2147483647, kGridMaxYZ = 65535;
inline constexpr std::int64_t kBlockThreadsMax = 1024;
inline constexpr std::int64_t kClusterMax = 16;  ///< blocks
inline constexpr std::int64_t kTensorMapBytes = 128, kTensorMapAlign = 16;

/// The size of an element of a torch dtype, by the dtype's name; 0 for an unknown name.
inline std::uint64_t dtype_bytes(std::string_view dtype) {
  constexpr std::pair<std::string_view, std::uint64_t> kSizes[] = {
      {"float32", 4},        {"float16", 2},     {"bfloat16", 2},        {"float64", 8},
      {"int64", 8},          {"int32", 4},       {"int16", 2},           {"int8", 1},
      {"uint8", 1},          {"bool", 1},        {"uint16", 2},          {"uint32", 4},
      {"uint64", 8},         {"complex32", 4},   {"complex64", 8},       {"complex128", 16},
      {"float8_e4m3fn", 1},  {"float8_e5m2", 1}, {"float8_e4m3fnuz", 1}, {"float8_e5m2fnuz", 1},
      {"float8_e8m0fnu", 1},
  };
  for (const auto& [name, bytes] : kSizes) {
    if (name == dtype) return bytes;
  }
  return 0;
}

namespace fields {

using plugin::Reader;
using plugin::Value;

inline constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t kMax32 = std::numeric_limits<std::uint32_t>::max();

template <typename T>
std::string text(T number) {
  return std::to_string(number);
}
inline std::string type(const Value& value) { return std::string(value.type_name()); }
/// Moves bytes out of the parsed file. Each member is read only once.
inline std::string take(const Value& value) {
  return std::move(const_cast<std::string&>(value.as_bytes()));
}

inline std::uint32_t number(Reader& r, std::string_view key, std::int64_t low, std::int64_t high) {
  return static_cast<std::uint32_t>(r.integer(key, low, high));
}
inline std::uint64_t size(Reader& r, std::string_view key, std::int64_t low = 0,
                          std::int64_t high = kMemoryBytesMax) {
  return static_cast<std::uint64_t>(r.integer(key, low, high));
}
inline void check_size(const Reader& r, std::string_view key, std::uint64_t found, std::int64_t low,
                       std::int64_t high) {
  if (found >= static_cast<std::uint64_t>(low) && found <= static_cast<std::uint64_t>(high)) {
    return;
  }
  r.mistake(key, "expected " + text(low) + " to " + text(high) + " of them, found " + text(found));
}
inline std::uint32_t checked_index(const Reader& r, std::string_view key, std::int64_t found,
                                   std::size_t count) {
  if (found < 0 || static_cast<std::uint64_t>(found) >= count) {
    r.mistake(
        key, "found number " + text(found) + ", and there are " + text(count) + ", counted from 0");
  }
  return static_cast<std::uint32_t>(found);
}
inline std::uint32_t index(Reader& r, std::string_view key, std::size_t count) {
  return checked_index(r, key, r.integer(key, 0, kMax), count);
}
inline std::string name(Reader& r, std::string_view key, std::int64_t bytes_max = kNameBytesMax) {
  std::string found = r.text(key);
  check_size(r, key, found.size(), 1, bytes_max);
  const auto odd = [](char c) { return c <= ' ' || c > '~'; };
  if (std::any_of(found.begin(), found.end(), odd)) {
    r.mistake(key, "expected printable ASCII characters without spaces");
  }
  return found;
}
/// Checks that a text is printable ASCII and not too long.
inline std::string words(const Reader& r, std::string_view key, const Value& value,
                         std::int64_t bytes_max) {
  if (!value.is_string()) r.mistake(key, "expected a text, found " + type(value));
  const std::string& found = value.as_string();
  check_size(r, key, found.size(), 0, bytes_max);
  if (std::any_of(found.begin(), found.end(), [](char c) { return c < ' ' || c > '~'; })) {
    r.mistake(key, "expected printable ASCII characters");
  }
  return found;
}
inline std::string bytes(Reader& r, std::string_view key, std::int64_t bytes_max) {
  const Value& found = r.value(key);
  if (!found.is_bytes()) r.mistake(key, "expected bytes, found " + type(found));
  check_size(r, key, found.as_bytes().size(), 0, bytes_max);
  return take(found);
}
inline std::vector<std::int64_t> numbers(Reader& r, std::string_view key, std::size_t low_count,
                                         std::size_t high_count, std::int64_t low,
                                         std::int64_t high) {
  std::vector<std::int64_t> found;
  const Value::Array& items = r.array(key);
  check_size(r, key, items.size(), static_cast<std::int64_t>(low_count),
             static_cast<std::int64_t>(high_count));
  for (const Value& item : items) {
    if (!item.is_int()) r.mistake(key, "expected integers, found " + type(item));
    if (item.as_int() < low || item.as_int() > high) {
      r.mistake(key,
                "expected " + text(low) + " to " + text(high) + ", found " + text(item.as_int()));
    }
    found.push_back(item.as_int());
  }
  return found;
}
template <typename T, std::size_t kCount>
std::array<T, kCount> array(Reader& r, std::string_view key, std::size_t count, std::int64_t low,
                            std::int64_t high) {
  std::array<T, kCount> result{};
  const std::vector<std::int64_t> found = numbers(r, key, count, count, low, high);
  for (std::size_t i = 0; i < count; ++i) result[i] = static_cast<T>(found[i]);
  return result;
}
/// Calls fn(item, "key/3") for each item of a list.
template <typename Fn>
void each(Reader& r, std::string_view key, std::int64_t count_max, Fn&& fn) {
  const Value::Array& items = r.array(key);
  check_size(r, key, items.size(), 0, count_max);
  for (std::size_t i = 0; i < items.size(); ++i) {
    fn(items[i], std::string(key) + "/" + text(i));
  }
}

/// The bytes from the first row's start to the last row's end.
inline std::uint64_t extent(const Reader& r, std::string_view key, std::uint64_t row_bytes,
                            std::uint64_t rows, std::uint64_t pitch) {
  if (row_bytes > kMemoryBytesMax) r.mistake(key, "too many bytes");
  if (rows <= 1) return rows * row_bytes;
  if (pitch < row_bytes) {
    r.mistake(key,
              "expected at least the " + text(row_bytes) + " bytes of a row, found " + text(pitch));
  }
  if (pitch > 0 && rows - 1 > static_cast<std::uint64_t>(kMemoryBytesMax) / pitch) {
    r.mistake(key, "found " + text(rows) + " rows, which memory of 2^40 bytes does not hold");
  }
  return (rows - 1) * pitch + row_bytes;
}
/// Checks that `bytes` bytes at offset `at` lie within `data_bytes` bytes, and that `at` is a multiple of `align`.
inline void check_position(const Reader& r, std::string_view key, std::int64_t at,
                           std::int64_t bytes, std::int64_t align, std::size_t data_bytes) {
  const auto size = static_cast<std::int64_t>(data_bytes);
  if (at < 0 || at > kMax32 || at % align != 0 || at > size - bytes) {
    r.mistake(key, "expected a multiple of " + text(align) + " with " + text(bytes) + " of " +
                       text(size) + " bytes behind it, found " + text(at));
  }
}

/// Checks that an argument of an operator consists of JSON values, tensors and known dtypes.
inline void check_argument(const Reader& r, const std::string& path, const Value& value,
                           std::size_t tensors) {
  if (value.is_bytes()) r.mistake(path, "expected a value of JSON, found bytes");
  if (value.is_array()) {
    for (const Value& item : value.as_array()) check_argument(r, path, item, tensors);
  }
  if (!value.is_map()) return;
  const Value* tensor = value.find("tensor");
  const Value* dtype = value.find("dtype");
  if (value.as_map().size() != 1 || (tensor == nullptr) == (dtype == nullptr)) {
    r.mistake(path, "expected {\"tensor\": number} or {\"dtype\": name}");
  }
  if (tensor != nullptr) {
    if (!tensor->is_int()) r.mistake(path, "expected a tensor's number");
    checked_index(r, path, tensor->as_int(), tensors);
  } else if (!dtype->is_string() || dtype_bytes(dtype->as_string()) == 0) {
    r.mistake(path, "expected the name of a dtype");
  }
}
/// The bytes from a view's first element to the end of its last one.
inline std::uint64_t view_bytes(const Reader& r, const Tensor& tensor, std::uint64_t element) {
  std::uint64_t elements = 1;
  for (std::size_t i = 0; i < tensor.sizes.size(); ++i) {
    if (tensor.sizes[i] == 0) return 0;
    const auto steps = static_cast<std::uint64_t>(tensor.sizes[i] - 1);
    const auto stride = static_cast<std::uint64_t>(tensor.strides[i]);
    if (stride > 0 && steps > static_cast<std::uint64_t>(kMemoryBytesMax) / stride) {
      r.mistake("sizes", "the tensor has more bytes than memory can have");
    }
    elements += steps * stride;  // at most 64 times 2^40
  }
  return elements * element;
}

}  // namespace fields
}  // namespace hone::recorded
