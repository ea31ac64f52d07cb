// Figures of `hone bench`, each beside what it is measured against.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "config/config.hpp"
#include "model/value.hpp"

namespace hone {

using Say = std::function<void(std::string_view what)>;

/// {"name", "value", "unit", "baseline", "ratio", "goal", "holds"}; a NaN becomes nil. `holds` is
/// nil without a goal.
struct Figure {
  std::string name, unit;
  double value;
  double baseline;   ///< NaN: none
  double ratio;      ///< NaN: none
  std::string goal;  ///< "ratio >= 0.9"; empty: none
  bool holds = true;
};
Value figure_to_value(const Figure& figure);

// Each returns a list of figures, as values.

/// What hone adds to a bare compiler and a bare run, and evaluations per second, over `count`
/// submissions each.
Result<Value> bench_step(const Config& config, const std::string& task, std::size_t count,
                         const Say& say);
/// A kernel against itself, `count` times with the other core idle and as often with it busy.
Result<Value> bench_noise(const Config& config, const std::string& task, std::size_t count,
                          const Say& say);
/// Memory with 1, 10,000 and 100,000 open episodes, each in a process of its own. Call it before
/// there are threads.
Result<Value> bench_idle(const Config& config, const Say& say);

}  // namespace hone
