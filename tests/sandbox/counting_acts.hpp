// Acts that count in a shared page while they run, for tests of the freezers.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace hone {

constexpr int kCounters = 8;
struct CountersPage {
  std::atomic<std::uint64_t> counters[kCounters];
};

/// Each maps descriptor 3 as a CountersPage and never returns.
std::map<std::string, std::function<long(const std::string&)>> counting_acts();

}  // namespace hone
