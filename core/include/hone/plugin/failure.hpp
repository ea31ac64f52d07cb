// Failures inside a plugin: an exception with a hone_code, and guard(), which lets none of them
// cross the ABI.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "hone/abi.h"

namespace hone::plugin {

/// An expected failure: what() is lower case, has no final period, and says found and expected.
class Failure : public std::runtime_error {
 public:
  Failure(hone_code code, const std::string& message) : std::runtime_error(message), code_(code) {}
  hone_code code() const { return code_; }

 private:
  hone_code code_;
};

[[noreturn]] inline void fail(hone_code code, const std::string& message) {
  throw Failure(code, message);
}
[[noreturn]] inline void invalid_argument(const std::string& message) {
  fail(HONE_INVALID_ARGUMENT, message);
}

/// Fills a caller's error, cut to fit at a character's boundary, and gives the code back. `error`
/// may be NULL.
inline std::int32_t set_error(hone_error* error, hone_code code,
                              std::string_view message) noexcept {
  constexpr std::size_t kMessageAt = offsetof(hone_error, message);
  if (error == nullptr || error->struct_size <= kMessageAt) return code;
  error->code = code;
  const std::size_t room = std::min(sizeof error->message, error->struct_size - kMessageAt);
  std::size_t size = std::min(message.size(), room - 1);
  if (size < message.size()) {
    while (size > 0 && (static_cast<unsigned char>(message[size]) & 0xC0u) == 0x80u) --size;
  }
  if (size > 0) std::memcpy(error->message, message.data(), size);
  error->message[size] = '\0';
  return code;
}

/// Runs `fn()` and turns every exception into the error. The outermost call of each function of a
/// table.
///
///   int32_t describe(hone_sink* out, hone_error* error) {
///     return hone::plugin::guard(error, [&] { hone::plugin::write(out, description()); });
///   }
template <typename Fn>
std::int32_t guard(hone_error* error, Fn&& fn) noexcept {
  try {
    std::forward<Fn>(fn)();
    return HONE_OK;
  } catch (const Failure& failure) {
    return set_error(error, failure.code(), failure.what());
  } catch (const std::bad_alloc&) {
    return set_error(error, HONE_RESOURCE_EXHAUSTED, "out of memory");
  } catch (const std::exception& exception) {
    return set_error(error, HONE_INTERNAL, exception.what());
  } catch (...) {
    return set_error(error, HONE_INTERNAL, "an exception that is no std::exception");
  }
}

}  // namespace hone::plugin
