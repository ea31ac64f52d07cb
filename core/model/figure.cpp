// Figures are maps, in the form in which --json prints them.
#include "model/figure.hpp"

#include <algorithm>

namespace hone {

Value figure(const std::string& name, double value, const char* unit) {
  return Value::map({{"name", name},
                     {"value", value},
                     {"unit", unit},
                     {"baseline", Value()},
                     {"ratio", Value()},
                     {"goal", Value()},
                     {"holds", Value()}});
}

Value figure(const std::string& name, double value, const char* unit, double baseline) {
  return figure(name, value, unit).set("baseline", baseline).set("ratio", value / baseline);
}

Value figure(const std::string& name, double value, const char* unit, double baseline, Value goal,
             bool holds) {
  return figure(name, value, unit, baseline).set("goal", std::move(goal)).set("holds", holds);
}

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const auto last = static_cast<double>(values.size() - 1);
  return values[static_cast<std::size_t>(q * last + 0.5)];
}

}  // namespace hone
