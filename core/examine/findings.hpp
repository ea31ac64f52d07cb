// The facts of a profile that matter most, as sentences with a number each.
#pragma once

#include <string>
#include <vector>

#include "examine/profile.hpp"

namespace hone {

/// Figures derived from a profile's input. NaN: unknown.
struct ProfileFigures {
  double bytes = 0, bytes_per_second = 0;
  double memory_share = 0;  ///< of what the device can read from memory
  double cycles_per_output = 0;
  /// Peak rates of the device; on a processor, those of the cores that the task grants.
  double peak_bytes_per_second = 0, peak_flops_per_second = 0;
  /// `flops`: floating-point operations of a call. `intensity`: `flops` for each byte of `bytes`.
  double flops = 0, flops_per_second = 0, flops_share = 0, intensity = 0;
  /// Bytes that a call moves between a device's memory and its cache, by its counters; the rate while kernels run, and its
  /// share of the memory's bandwidth.
  double moved_bytes = 0, moved_bytes_per_second = 0, moved_share = 0;
};

ProfileFigures profile_figures(const ProfileInput& input);

/// The plan's launches at the timed shape; none without a plan.
std::vector<ReadyLaunch> timed_launches(const ProfileInput& input);

/// The most important first; at most `count_max`.
std::vector<std::string> profile_findings(const ProfileInput& input, const ProfileFigures& figures,
                                          std::size_t count_max);

}  // namespace hone
