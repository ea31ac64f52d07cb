// Records the plans of a level of KernelBench, for `hone plan`.
#pragma once

#include <cstdint>
#include <string>

#include "config/config.hpp"
#include "terminal/terminal.hpp"

namespace hone {

struct LevelPlanRequest {
  std::string dataset;  ///< as in RunRequest
  std::int64_t level = 0;
  std::string folder;  ///< of generations; empty: the baselines of the level's problems
  bool json = false;
};

/// Records each source in turn. Prints the number of plans, and the reasons of those without one. Returns an exit code.
int record_level(Terminal& terminal, const LoadedConfig& loaded, const LevelPlanRequest& request);

}  // namespace hone
