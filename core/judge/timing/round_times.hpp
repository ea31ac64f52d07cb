// Times of rounds: what an empty round takes, and what a call takes.
#pragma once

#include <vector>

#include "judge_protocol/findings.hpp"
#include "model/task.hpp"

namespace hone {

Floor floor_of(const std::vector<double>& rounds);

/// Shortest time that a call can count for, in seconds: the resolution of the clock.
inline constexpr double kCallLeast = 1e-9;

/// Seconds per call, of a round that took `seconds`. Rationale: a round counts for at least the floor's spread, and a call for
/// at least `least`. If the floor is all that was measured, the noise that remains is not a time to win with.
double per_call(double seconds, const Floor& floor, std::size_t calls, double least);
std::vector<double> per_call(const std::vector<double>& rounds, const Floor& floor,
                             std::size_t calls, double least = kCallLeast);

/// The time of a call that moves the bytes of its tensors once at this rate, in seconds.
double least_seconds(const Task& task, double bytes_per_second_max);
/// Whether a call of `call_seconds` would move its tensors faster than that.
bool beyond_physics(const Task& task, double call_seconds, double bytes_per_second_max);

}  // namespace hone
