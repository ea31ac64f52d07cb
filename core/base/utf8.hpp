// Untrusted text: validation of UTF-8, safe output on a terminal, and truncation between characters.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace hone {

/// The text of a file, without a UTF-8 byte-order mark. Bytes that begin with the mark of UTF-16 or
/// UTF-32 are invalid_argument "NAME: …".
Result<std::string> file_text(std::string bytes, std::string_view name);

/// The offset of the first byte that is not valid UTF-8; npos if all bytes are.
std::size_t find_invalid_utf8(std::string_view text);
/// Replaces each invalid byte by U+FFFD, so that every client can decode the text.
std::string valid_utf8(std::string_view text);
/// Makes text safe for one line of a terminal: line ends and tabs become spaces; control characters, direction marks and invalid bytes become U+FFFD.
std::string printable(std::string_view text);
/// The first `bytes_max` bytes, with "?" for each that is not a printable character of ASCII.
std::string printable_ascii(std::string_view text, std::size_t bytes_max = std::string_view::npos);
/// Truncates to at most `bytes_max` bytes, with "…" at the end. Valid UTF-8 stays valid.
std::string cut_end(std::string_view text, std::size_t bytes_max);
/// Truncates to at most `bytes_max` bytes, with "…" in the middle. Valid UTF-8 stays valid.
std::string cut_middle(std::string_view text, std::size_t bytes_max);

}  // namespace hone
