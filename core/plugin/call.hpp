// Calls across the ABI, with a sink and an error, and protection from exceptions of plugins.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "hone/abi.h"
#include "model/value.hpp"

namespace hone {

/// Limit of a plugin's output in one call.
inline constexpr std::size_t kSinkBytesMax = 64u << 20;

/// What a plugin's function writes its error to.
inline hone_error empty_error() {
  hone_error error{};
  error.struct_size = sizeof error;
  return error;
}

/// Calls `fn(error)`, which returns a hone_code. The plugin's own errors keep their code: "kevin:
/// create: message". A code that is none, or an exception, is an internal error.
Status call_plugin(std::string_view who, const std::function<std::int32_t(hone_error*)>& fn);

/// Calls a function that cannot fail, from a destructor: an exception is logged.
void call_void(std::string_view who, const std::function<void()>& fn) noexcept;

/// Calls `fn(sink, error)` and returns the bytes that it wrote.
Result<std::string> call_for_bytes(std::string_view who,
                                   const std::function<std::int32_t(hone_sink*, hone_error*)>& fn);

/// As call_for_bytes, decoded. Invalid MessagePack is an internal error.
Result<Value> call_for_value(std::string_view who,
                             const std::function<std::int32_t(hone_sink*, hone_error*)>& fn);

/// Borrows bytes for a call.
inline hone_bytes borrow(std::string_view bytes) {
  return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}

}  // namespace hone
