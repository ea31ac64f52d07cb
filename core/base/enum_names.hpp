// The names that messages between processes use for the values of an enum: one table for both directions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace hone {

/// The value whose name is `name`; `names` has one for each value, in the order of the enum. `kind` is for the message:
/// "ending: found 'dead', expected one of done, died".
template <typename Enum, std::size_t count>
Result<Enum> parse_enum(std::string_view kind, const std::string_view (&names)[count],
                        std::string_view name) {
  for (std::size_t i = 0; i < count; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  std::string expected;
  for (const std::string_view one : names) {
    expected += (expected.empty() ? "" : ", ") + std::string(one.empty() ? "''" : one);
  }
  return internal_error(std::string(kind) + ": found '" + std::string(name) +
                        "', expected one of " + expected);
}

}  // namespace hone
