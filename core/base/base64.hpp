// Bytes as text, in base64.
#pragma once

#include <string>
#include <string_view>

namespace hone {

/// As RFC 4648 defines it, with padding.
std::string to_base64(std::string_view bytes);

}  // namespace hone
