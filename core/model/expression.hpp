// Integer expressions over dimension names ("n*4 + 1", "ceil_div(n, 256)"), in checked arithmetic.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace hone {

/// Values of a task's dimensions, by name.
using Dims = std::map<std::string, std::int64_t, std::less<>>;

/// plugin::evaluate_expression(), with mistakes as invalid_argument.
Result<std::int64_t> evaluate_expression(std::string_view text, const Dims& dims);

}  // namespace hone
