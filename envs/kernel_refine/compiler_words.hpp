// Compiler output cut down to what helps: errors before warnings before notes, within a number of
// bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/utf8.hpp"

namespace hone::kernel_refine {

/// The first errors first; an error repeated word for word is told once; warnings and notes come
/// only where errors left room; long lines lose their middle. What was left out is said in a last
/// line. At most `bytes_max` bytes (64 or more).
std::string trim_compiler_words(std::string_view diagnostics, std::size_t bytes_max);

}  // namespace hone::kernel_refine
