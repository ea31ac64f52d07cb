// Reads JSON, as Python's json module writes it.
#pragma once

#include <string_view>

#include "hone/plugin/value.hpp"

namespace hone::record {

/// Throws a plugin::Failure for text that is not JSON or is nested too deep. NaN, Infinity and
/// -Infinity are numbers. Integers that no int64 holds become floats.
plugin::Value read_json(std::string_view text);

}  // namespace hone::record
