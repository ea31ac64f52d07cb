// JSON as written by Python's json module, which allows NaN and Infinity.
#pragma once

#include <string_view>

#include "base/result.hpp"
#include "model/value.hpp"

namespace hone {

/// Parses JSON. NaN, Infinity and -Infinity become strings.
Result<Value> from_python_json(std::string_view text);

}  // namespace hone
