// Compiler output, cut down to what is about the submission.
#pragma once

#include <string>
#include <string_view>

namespace hone {

/// Keeps messages located in `source_name` with their excerpts, the bare text of errors in the
/// toolchain's headers, and the linker's undefined symbols. Paths of this machine do not come
/// through. At most bytes_max.
std::string submission_diagnostics(std::string_view words, std::string_view source_name,
                                   std::size_t bytes_max = 16384);

}  // namespace hone
