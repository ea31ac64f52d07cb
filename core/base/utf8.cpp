// UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing beyond U+10FFFF.
#include "base/utf8.hpp"

#include <algorithm>
#include <utility>

namespace hone {
namespace {

constexpr std::string_view kEllipsis = "…";

/// Number of bytes of the character at `at`; 0 if it is invalid.
std::size_t character(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || at + size > text.size()) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) return 0;
  }
  const unsigned char second = byte(at + 1);
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool beyond = (first == 0xed && second > 0x9f) || (first == 0xf4 && second > 0x8f);
  return overlong || beyond ? 0 : size;
}

/// Whether a character changes the state of a terminal: C1 controls, line and paragraph ends, direction marks, and the byte-order mark.
bool steers(std::string_view one) {
  if (one.size() == 1) return static_cast<unsigned char>(one[0]) < 0x20 || one[0] == 0x7f;
  if (one.size() == 2) {
    return (one[0] == '\xc2' && static_cast<unsigned char>(one[1]) < 0xa0) || one == "\u061c";
  }
  return (one >= "\u200e" && one <= "\u200f") || (one >= "\u2028" && one <= "\u202e") ||
         (one >= "\u2066" && one <= "\u2069") || one == "\ufeff";
}

std::size_t boundary_before(std::string_view text, std::size_t at) {
  while (at > 0 && at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) --at;
  return std::min(at, text.size());
}

}  // namespace

Result<std::string> file_text(std::string bytes, std::string_view name) {
  using namespace std::string_view_literals;
  // UTF-32's first: the little-endian mark begins with UTF-16's.
  constexpr std::pair<std::string_view, std::string_view> kMarks[] = {{"\xff\xfe\0\0"sv, "UTF-32"},
                                                                      {"\0\0\xfe\xff"sv, "UTF-32"},
                                                                      {"\xff\xfe"sv, "UTF-16"},
                                                                      {"\xfe\xff"sv, "UTF-16"}};
  for (const auto& [mark, encoding] : kMarks) {
    if (!bytes.starts_with(mark)) continue;
    return invalid_argument(std::string(name) + ": found " + std::string(encoding) +
                            " text, expected UTF-8; convert it with: iconv -f " +
                            std::string(encoding) + " -t UTF-8");
  }
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.erase(0, 3);
  return bytes;
}

std::string cut_middle(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  if (bytes_max < kEllipsis.size()) return {};
  const std::size_t room = bytes_max - kEllipsis.size();
  const std::size_t head = boundary_before(text, room - room / 3);
  std::size_t tail = text.size() - room / 3;
  while (tail < text.size() && (static_cast<unsigned char>(text[tail]) & 0xc0) == 0x80) ++tail;
  return std::string(text.substr(0, head)) + std::string(kEllipsis) +
         std::string(text.substr(tail));
}

std::string printable_ascii(std::string_view text, std::size_t bytes_max) {
  std::string shown(text.substr(0, bytes_max));
  for (char& c : shown) c = c >= ' ' && c <= '~' ? c : '?';
  return shown;
}

std::string cut_end(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  if (bytes_max < kEllipsis.size()) return {};
  return std::string(text.substr(0, boundary_before(text, bytes_max - kEllipsis.size()))) +
         std::string(kEllipsis);
}

std::size_t find_invalid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = character(text, at);
    if (size == 0) return at;
    at += size;
  }
  return std::string_view::npos;
}

std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = character(text, at);
    const std::string_view one = text.substr(at, std::max<std::size_t>(size, 1));
    if (one == "\n" || one == "\r" || one == "\t") {
      shown += ' ';
    } else {
      shown += size == 0 || steers(one) ? std::string_view("\xef\xbf\xbd") : one;
    }
    at += one.size();
  }
  return shown;
}

std::string valid_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = character(text, at);
    valid += size == 0 ? std::string_view("\xef\xbf\xbd") : text.substr(at, size);
    at += std::max<std::size_t>(size, 1);
  }
  return valid;
}

}  // namespace hone
