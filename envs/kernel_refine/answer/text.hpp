// Helpers for reading answers line by line.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace hone::kernel_refine {

inline bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Whether the character may be part of an identifier; bytes above ASCII may, as in Python.
inline bool is_word(char c) {
  return c == '_' || is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c & 0x80) != 0;
}

inline std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

inline std::string to_lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

/// Where the line ends that `at` is in: its newline, or the end of the text.
inline std::size_t line_end(std::string_view text, std::size_t at) {
  return std::min(text.find('\n', at), text.size());
}

/// Where the line begins that `at` is in.
inline std::size_t line_begin(std::string_view text, std::size_t at) {
  const std::size_t newline = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  return newline == std::string_view::npos ? 0 : newline + 1;
}

/// Calls visit(line, its offset) for each line, without newlines, until it returns false.
template <typename Visit>
void each_line(std::string_view text, Visit visit) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = line_end(text, at);
    if (!visit(text.substr(at, end - at), at)) return;
    at = end + 1;
  }
}

/// Adds a line. Carriage returns at line ends belong to the transport, not to the code.
inline void append_line(std::string& code, std::string_view line) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  code.append(line);
  code += '\n';
}

}  // namespace hone::kernel_refine
