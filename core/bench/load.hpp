// What benchmarks of evaluation share: many things at once, and sources that no cache has seen.
#pragma once

#include <functional>
#include <string>

#include "base/result.hpp"

namespace hone {

/// Submissions that a benchmark has under way at a time.
inline constexpr int kBenchAtOnce = 16;

/// Does `count` things on so many threads; the first error.
Status in_parallel(int count, int at_once, const std::function<Status(int)>& thing);

/// Another source each time, by a comment in Python: no cache answers.
std::string numbered(const std::string& source, int number);

}  // namespace hone
