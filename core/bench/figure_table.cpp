// One row for each figure, below a line that names the machine.
#include "bench/figure_table.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "app/host.hpp"

namespace hone {
namespace {

std::string machine() {
  const auto registry = open_registry(Config());
  const auto backend = registry->open_backend("cpu");
  const auto facts = backend ? (*backend)->describe(Value::map()) : Result<Value>(backend.error());
  return std::to_string(cpu_count()) + " CPUs; " +
         (facts ? facts->find("fingerprint")->as_string() : "unknown machine");
}

}  // namespace

int print_figures(Terminal& terminal, const Value& figures, bool json) {
  bool all = true;
  std::vector<Row> rows;
  for (const Value& figure : figures.as_array()) {
    const std::string unit = figure.find("unit")->as_string();
    const auto number = [&](std::string_view key) {
      const Value* member = figure.find(key);
      if (member == nullptr || !member->is_number()) return std::string("–");
      const bool counted = unit == "submissions" && key != "ratio";
      return counted ? std::to_string(std::llround(member->as_double()))
                     : short_number(member->as_double());
    };
    const Value* holds = figure.find("holds");
    const bool judged = holds != nullptr && holds->is_bool();
    const bool good = !judged || holds->as_bool();
    all = all && good;
    const Value* goal = figure.find("goal");
    std::string wanted = goal == nullptr || goal->is_nil() ? ""
                         : goal->is_string()               ? goal->as_string()
                                                           : to_json(*goal);
    rows.push_back({{figure.find("name")->as_string(), Colour::kBold},
                    {number("value"), Colour::kPlain, true},
                    {unit},
                    {number("baseline"), Colour::kPlain, true},
                    {number("ratio"), Colour::kPlain, true},
                    {wanted},
                    {!judged ? ""
                     : good  ? "holds"
                             : "falls short",
                     good ? Colour::kGreen : Colour::kRed}});
  }
  if (json) {
    terminal.json(figures, 2);
  } else {
    terminal.line(machine());
    terminal.table({"figure", "value", "unit", "baseline", "ratio", "goal", ""}, rows);
  }
  return all ? kExitOk : kExitNo;
}

}  // namespace hone
