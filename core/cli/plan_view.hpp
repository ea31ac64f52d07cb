// The output of `hone plan` for one plan.
#pragma once

#include <cstddef>
#include <string>

#include "hone/recorded_plan_reader.hpp"
#include "terminal/terminal.hpp"

namespace hone {

/// Prints the steps of a plan in order, as tables. `bytes`: size of the encoded plan.
void print_plan(Terminal& terminal, const recorded::Plan& plan, std::size_t bytes);

/// The same as a map.
Value plan_value(const recorded::Plan& plan, std::size_t bytes);

/// The demangled name, such as "scale(float*, int)"; other names unchanged.
std::string readable_name(const std::string& name);

}  // namespace hone
