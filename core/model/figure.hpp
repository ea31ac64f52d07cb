// One line of what `hone bench` prints, and what it is made of.
#pragma once

#include <string>
#include <vector>

#include "model/value.hpp"

namespace hone {

/// {"name", "value", "unit", "baseline", "ratio", "goal", "holds"}; the last four nil.
Value figure(const std::string& name, double value, const char* unit);
/// With a baseline that was measured in the same run, and the ratio to it.
Value figure(const std::string& name, double value, const char* unit, double baseline);
/// With a goal, as text or a number.
Value figure(const std::string& name, double value, const char* unit, double baseline, Value goal,
             bool holds);

/// The value at `q` of 0 to 1 of them in order; 0 where there are none.
double quantile(std::vector<double> values, double q);

}  // namespace hone
