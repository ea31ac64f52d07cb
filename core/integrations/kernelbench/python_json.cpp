// Quotes NaN, Infinity and -Infinity, and only in a text that is not valid JSON otherwise.
#include "integrations/kernelbench/python_json.hpp"

#include <string>

namespace hone {
namespace {

/// The text with NaN, Infinity and -Infinity in quotes, except within strings.
std::string with_quoted_nan(std::string_view text) {
  std::string quoted;
  quoted.reserve(text.size());
  bool in_text = false;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t size = 1;
    if (in_text) {
      size = text[at] == '\\' && at + 1 < text.size() ? 2 : 1;
    } else {
      for (const std::string_view word : {"NaN", "Infinity", "-Infinity"}) {
        if (text.substr(at).starts_with(word)) size = word.size();
      }
    }
    if (text[at] == '"') in_text = !in_text;
    const bool word = !in_text && size > 1;
    if (word) quoted += '"';
    quoted += text.substr(at, size);
    if (word) quoted += '"';
    at += size;
  }
  return quoted;
}

}  // namespace

Result<Value> from_python_json(std::string_view text) {
  auto value = from_json(text);
  if (!value) value = from_json(with_quoted_nan(text));
  return value;
}

}  // namespace hone
