// Compresses a reply: repeated texts are replaced by references to action, compiler output or earlier parts.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hone {

/// A reply repeats the submission, the compiler's output and, in its messages, parts of itself. The compressed form is a sequence of: a length and that number of literal bytes; a length and an offset to copy from. Offsets count from the start of action, compiler output and reply, concatenated. Lengths and offsets are LEB128 numbers (seven bits a byte, lowest first).
std::string without_repeats(std::string_view reply, std::string_view action,
                            std::string_view words);

/// Restores the reply byte for byte; nullopt if the bytes do not belong to these texts.
std::optional<std::string> with_repeats(std::string_view left, std::string_view action,
                                        std::string_view words);

}  // namespace hone
