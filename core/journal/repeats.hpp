// A reply without what it repeats: copies from the texts it was made of stand for them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hone {

/// A reply says again what was submitted, what a compiler said and, in its messages, what it says
/// elsewhere. What is left holds, over and over: a length and so many bytes as they are, a length
/// and a place to copy so many bytes from. Places count from the start of action, words and reply
/// one after the other. Lengths and places are numbers of seven bits a byte, the lowest first, the
/// eighth bit saying that there are more.
std::string without_repeats(std::string_view reply, std::string_view action,
                            std::string_view words);

/// The reply again, byte for byte; nullopt for bytes that are of no reply of these texts.
std::optional<std::string> with_repeats(std::string_view left, std::string_view action,
                                        std::string_view words);

}  // namespace hone
