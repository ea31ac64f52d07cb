// Shortens compiler output to a number of bytes: errors first, then warnings, then notes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/utf8.hpp"

namespace hone::kernel_refine {

/// Keeps the first errors. A repeated error is kept once. Warnings and notes are kept only if the errors
/// leave room. Long lines lose their middle. A last line reports omissions. At most `bytes_max` bytes (64 or
/// more).
std::string trim_compiler_words(std::string_view diagnostics, std::size_t bytes_max);

}  // namespace hone::kernel_refine
