// Levels of KernelBench among tasks, by their tags: level1, level2, …
#pragma once

#include <string>
#include <vector>

#include "episode/catalog.hpp"

namespace hone {

/// "level1 (100), level2 (100)": the levels with their numbers of tasks, or "none".
std::string levels_text(const std::vector<const TaskSummary*>& tasks, const std::string& dataset);

}  // namespace hone
