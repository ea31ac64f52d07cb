// Text that may come from strangers: what of it is UTF-8, and cutting it without cutting a
// character in two.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace hone {

/// The text of a file, without a UTF-8 byte-order mark. Bytes that begin with the mark of UTF-16 or
/// UTF-32 are invalid_argument "NAME: …".
Result<std::string> file_text(std::string bytes, std::string_view name);

/// The offset of the first byte that is no UTF-8; npos when all is.
std::size_t find_invalid_utf8(std::string_view text);
/// With U+FFFD for every byte that is no UTF-8, so that everybody can decode it.
std::string valid_utf8(std::string_view text);
/// On one line of a terminal, and no more than seen there: line ends and tabs become spaces, and
/// U+FFFD stands for what else steers one: controls, marks of direction, what is no UTF-8.
std::string printable(std::string_view text);
/// At most `bytes_max` bytes, the end left out and "…" in its place. UTF-8 stays UTF-8.
std::string cut_end(std::string_view text, std::size_t bytes_max);
/// At most `bytes_max` bytes with "…" where the middle was. UTF-8 stays UTF-8.
std::string cut_middle(std::string_view text, std::size_t bytes_max);

}  // namespace hone
