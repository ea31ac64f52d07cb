// The names of the values of an enum in messages and files: one table for each enum, for both directions.
#pragma once

#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace hone {

/// The table of one enum. `kKind` names the enum in errors. `kNames` has a name for each value, in the order of the enum.
///
///   template <>
///   struct EnumNames<Colour> {
///     static constexpr std::string_view kKind = "colour";
///     static constexpr std::string_view kNames[] = {"red", "green"};
///     static_assert(are_complete(kNames, Colour::kGreen));
///   };
template <typename Enum>
struct EnumNames;

/// Whether a table has a name for each value up to `last`.
template <typename Enum, std::size_t count>
constexpr bool are_complete(const std::string_view (&)[count], Enum last) {
  return count == static_cast<std::size_t>(last) + 1;
}

template <typename Enum>
constexpr std::string_view enum_name(Enum value) {
  return EnumNames<Enum>::kNames[static_cast<std::size_t>(value)];
}

template <typename Enum>
std::optional<Enum> find_enum(std::string_view name) {
  for (std::size_t i = 0; i < std::size(EnumNames<Enum>::kNames); ++i) {
    if (EnumNames<Enum>::kNames[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

/// "found 'dead', expected one of done, died".
template <typename Enum>
std::string unknown_enum(std::string_view name) {
  std::string expected;
  for (const std::string_view one : EnumNames<Enum>::kNames)
    expected += (expected.empty() ? "" : ", ") + std::string(one.empty() ? "''" : one);
  return "found '" + std::string(name) + "', expected one of " + expected;
}

template <typename Enum>
Result<Enum> parse_enum(std::string_view name) {
  if (const std::optional<Enum> found = find_enum<Enum>(name)) return *found;
  return internal_error(std::string(EnumNames<Enum>::kKind) + ": " + unknown_enum<Enum>(name));
}

}  // namespace hone
