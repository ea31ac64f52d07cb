// Tests that tasks detect wrong submissions, for `hone tasks --admit`.
#pragma once

#include "config/config.hpp"
#include "offline/task_filter.hpp"
#include "terminal/terminal.hpp"

namespace hone {

/// Wrong outputs must fail, and the baseline and each file in golden/ must get their outcomes. Prints a row for each task,
/// and the reasons of those that are refused. Returns an exit code.
int admit_tasks(Terminal& terminal, LoadedConfig loaded, const TaskFilter& filter, bool json);

}  // namespace hone
