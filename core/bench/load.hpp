// Shared by the benchmarks of evaluation: parallel calls, and unique sources.
#pragma once

#include <functional>
#include <string>

#include "base/result.hpp"

namespace hone {

/// Number of submissions in flight.
inline constexpr int kBenchAtOnce = 16;

/// Calls `thing` `count` times on `at_once` threads. Returns the first error.
Status in_parallel(int count, int at_once, const std::function<Status(int)>& thing);

/// Makes each source unique with a Python comment, so that caches do not apply.
std::string numbered(const std::string& source, int number);

}  // namespace hone
