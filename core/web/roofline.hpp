// A roofline plot: the rates that a device permits, and those of a kernel and its baseline.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/value.hpp"

namespace hone {

/// A point of the picture: floating-point operations per second that a program reaches.
struct RooflinePoint {
  std::string name;
  double flops_per_second = 0;
};

/// Rates of a device, and the programs of one task. A roofline is the lower one of two lines: `peak_flops_per_second`, and
/// what memory permits, intensity times `peak_bytes_per_second`.
struct Roofline {
  std::string title;
  double peak_bytes_per_second = 0, peak_flops_per_second = 0;
  double intensity = 0;  ///< of the task: floating-point operations for each byte
  std::vector<RooflinePoint> points;
};

/// From the facts of a profile (examine/profile.hpp): the kernel and the baseline. failed_precondition if a figure is not
/// known, with its name.
Result<Roofline> roofline_of_profile(const std::string& title, const Value& facts);

/// A complete SVG file with logarithmic axes. It follows the viewer's light or dark scheme.
std::string roofline_svg(const Roofline& roofline);

}  // namespace hone
