// Small readers for the text of compilers.
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

namespace hone::examine {

/// Removes spaces at both ends.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r";
  const std::size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpaces) - begin + 1);
}

/// Calls take(line) for each line, without its end.
template <typename Take>
void for_each_line(std::string_view text, Take&& take) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    take(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

/// Whether a label or a symbol of assembler text may have this character.
inline bool is_symbol_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '$';
}

/// The number at the start of the text, which is removed; -1 if there is none.
inline std::int64_t take_number(std::string_view& text) {
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return -1;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

/// The number before `what`, as in "32 registers"; -1 if there is none.
inline std::int64_t number_before(std::string_view text, std::string_view what) {
  const std::size_t at = text.find(what);
  if (at == std::string_view::npos) return -1;
  std::string_view before = trimmed(text.substr(0, at));
  const std::size_t begin = before.find_last_not_of("0123456789");
  before.remove_prefix(begin == std::string_view::npos ? 0 : begin + 1);
  return take_number(before);
}

/// "NAME:LINE:COLUMN: rest": takes all but the rest. Line; -1 if the text is about another file.
inline std::int64_t take_place(std::string_view& text, std::string_view source_name) {
  if (!text.starts_with(source_name)) return -1;
  std::string_view rest = text.substr(source_name.size());
  if (!rest.starts_with(":")) return -1;
  rest.remove_prefix(1);
  const std::int64_t line = take_number(rest);
  if (line < 1) return -1;
  if (rest.starts_with(":")) {
    rest.remove_prefix(1);
    if (take_number(rest) >= 0 && rest.starts_with(":")) rest.remove_prefix(1);
  }
  text = trimmed(rest);
  return line;
}

}  // namespace hone::examine
