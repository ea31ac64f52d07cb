// Figure: one line of the output of `hone bench`.
#pragma once

#include <string>
#include <vector>

#include "model/value.hpp"

namespace hone {

/// {"name", "value", "unit", "baseline", "ratio", "goal", "holds"}; the last four are nil.
Value figure(const std::string& name, double value, const char* unit);
/// Adds a baseline measured in the same run, and the ratio to it.
Value figure(const std::string& name, double value, const char* unit, double baseline);
/// Adds a goal, as text or as a number.
Value figure(const std::string& name, double value, const char* unit, double baseline, Value goal,
             bool holds);

/// The quantile `q` (0 to 1) of the values; 0 if there are no values.
double quantile(std::vector<double> values, double q);

}  // namespace hone
