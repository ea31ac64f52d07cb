// What benchmarks of evaluation share: many things at once, and sources that no cache has seen.
#pragma once

#include <functional>
#include <string>

#include "base/result.hpp"

namespace hone {

/// Submissions that a benchmark has under way at a time.
inline constexpr int kBenchAtOnce = 16;

/// Calls `thing` `count` times on `at_once` threads; returns the first error.
Status in_parallel(int count, int at_once, const std::function<Status(int)>& thing);

/// Makes each source unique with a Python comment, so that no cache applies.
std::string numbered(const std::string& source, int number);

}  // namespace hone
