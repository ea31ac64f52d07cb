// Judges the turns of recorded traces again, and compares the verdicts, for `hone traces`.
#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"
#include "terminal/terminal.hpp"

namespace hone {

struct TracesRequest {
  std::string file;
  std::vector<std::string> keys;  ///< of the traces to judge; empty: all
  bool read_only = false;         ///< only read tasks and extract code
  bool json = false;
};

/// Prints each turn and the counts. Returns an exit code: 3 if a turn could not be judged.
int judge_traces(Terminal& terminal, LoadedConfig loaded, const TracesRequest& request);

}  // namespace hone
