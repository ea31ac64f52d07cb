// A mix of submissions for `hone bench modules`: runs of KernelBench's and traces, as the commands that judge them
// read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/mix.hpp"
#include "config/config.hpp"
#include "episode/catalog.hpp"
#include "episode/environment.hpp"
#include "integrations/pipeline/trace_tasks.hpp"

namespace hone {

struct MixRequest {
  std::vector<std::string> runs;  ///< folders of generations, as `hone eval` reads them
  std::int64_t level = 0;         ///< that they are of
  std::string traces;             ///< a file, as `hone traces` reads it
  std::vector<std::string> keys;  ///< of the traces these alone; empty: all

  bool empty() const { return runs.empty() && traces.empty(); }
  /// Whether its parts go together, and with the benchmark `what`, which has a task of its own; a mistake names the
  /// options.
  Status check(const std::string& what, bool has_task) const;
};

/// The traces of a mix, read, with the tasks that they bring.
struct MixTraces {
  TraceFile file;
  std::optional<TraceTasks> tasks;  ///< none where the mix has no traces

  /// Reads them and adds their dataset, in place of one of that name.
  static Result<MixTraces> open(const MixRequest& request, Config& config);
};

/// All of the runs and then all of the traces, each with its task; what has no code is left out and counted. A problem
/// that the level lacks and a task that cannot be described are errors.
Result<ModuleMix> read_mix(const MixRequest& request, const MixTraces& traces, const Config& config,
                           const Catalog& catalog, const Environment& environment);

}  // namespace hone
