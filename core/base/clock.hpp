// Clocks: monotonic time for deadlines and measurements, wall time for records.
#pragma once

#include <cstdint>
#include <string>

namespace hone {

/// Nanoseconds of CLOCK_MONOTONIC.
std::int64_t monotonic_ns();
inline double monotonic_s() { return static_cast<double>(monotonic_ns()) * 1e-9; }

/// Seconds since 1970 (CLOCK_REALTIME). This clock may be set back.
double wall_s();
/// A time in UTC. `seconds`: since 1970. `format`: as for strftime(), for at most 31 characters.
std::string utc_text(double seconds, const char* format);
/// Wall time in UTC, "2026-11-21T04:34:55Z".
std::string utc_now();

}  // namespace hone
