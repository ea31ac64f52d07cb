// The output of `hone bench`: figures as a table, or as JSON.
#pragma once

#include "model/value.hpp"
#include "terminal/terminal.hpp"

namespace hone {

/// `figures`: a list of them (model/figure.hpp). Returns kExitNo if one falls short of its goal.
int print_figures(Terminal& terminal, const Value& figures, bool json);

}  // namespace hone
