// Output of `hone traces`: a row for each turn, and the counts.
#pragma once

#include <string>
#include <vector>

#include "integrations/pipeline/trace_file.hpp"
#include "terminal/terminal.hpp"

namespace hone {

/// The turns of traces, with the result of each.
struct JudgedTraces {
  TraceFile recorded;  ///< constant after reading: turns point into it
  std::vector<TraceComparison> turns;
  std::vector<std::string> sources;  ///< parallel to turns: the code of each; empty: none
};

/// Both return an exit code.
int report_traces(Terminal& terminal, const JudgedTraces& traces, bool json);
/// For `--read-only`: what would be judged.
int report_read_traces(Terminal& terminal, const JudgedTraces& traces, bool json);

}  // namespace hone
