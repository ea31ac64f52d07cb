// Figures are maps, as they are printed with --json.
#include "model/figure.hpp"

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

}  // namespace hone
