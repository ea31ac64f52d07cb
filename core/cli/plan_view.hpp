// The output of `hone plan` for one plan.
#pragma once

#include <cstddef>

#include "hone/recorded_plan_reader.hpp"
#include "terminal/terminal.hpp"

namespace hone {

/// Prints the steps of a plan in order, as tables or as JSON. `bytes`: size of the encoded plan.
void print_plan(Terminal& terminal, const recorded::Plan& plan, std::size_t bytes, bool json);

}  // namespace hone
