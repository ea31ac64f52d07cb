// Reads the system's clocks.
#include "base/clock.hpp"

#include <ctime>

namespace hone {

std::int64_t monotonic_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

double wall_s() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::string utc_text(double seconds, const char* format) {
  const auto whole = static_cast<std::time_t>(seconds);
  std::tm parts{};
  gmtime_r(&whole, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, format, &parts)};
}

std::string utc_now() { return utc_text(wall_s(), "%Y-%m-%dT%H:%M:%SZ"); }

}  // namespace hone
