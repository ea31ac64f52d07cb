// Compiler output cut down to what helps: errors before warnings before notes, within a number of
// bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hone::kernel_refine {

/// The first errors first; an error repeated word for word is told once; warnings and notes come
/// only where errors left room; long lines lose their middle. What was left out is said in a last
/// line. At most `bytes_max` bytes (64 or more).
std::string trim_compiler_words(std::string_view diagnostics, std::size_t bytes_max);

/// At most `bytes_max` bytes with "…" where the middle was; never cuts a character of UTF-8 in two.
std::string cut_middle(std::string_view text, std::size_t bytes_max);
/// At most `bytes_max` bytes, the end left out.
std::string cut_end(std::string_view text, std::size_t bytes_max);
/// With U+FFFD for every byte that is no UTF-8, so that every client can decode it.
std::string valid_utf8(std::string_view text);
/// The offset of the first byte that is no UTF-8; npos when all is.
std::size_t find_invalid_utf8(std::string_view text);

}  // namespace hone::kernel_refine
