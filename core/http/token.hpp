// The token of HTTP clients.
#pragma once

#include <string>

#include "base/result.hpp"

namespace hone {

/// Reads the token from the first line of a file that only its owner may read.
Result<std::string> read_token(const std::string& path);

}  // namespace hone
