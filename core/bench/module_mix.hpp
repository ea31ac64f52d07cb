// A mix of submissions for `hone bench modules`: KernelBench runs and traces, read like `hone eval` and `hone
// traces` do.
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
  std::int64_t level = 0;         ///< KernelBench level of every run
  std::string traces;             ///< a file, as `hone traces` reads it
  std::vector<std::string> keys;  ///< keys of the traces to use; empty: all
  std::int64_t in_flight = 0;     ///< submissions that hone judges at a time; 0: the default

  bool empty() const { return runs.empty() && traces.empty(); }
  /// Checks that the options fit together and with the benchmark `what`, which has a task of its own. An
  /// error names the options.
  Status check(const std::string& what, bool has_task) const;
};

/// The traces of a mix, with their tasks.
struct MixTraces {
  TraceFile file;
  std::optional<TraceTasks> tasks;  ///< none: the mix has no traces

  /// Reads the traces and adds their dataset to the configuration. It replaces a dataset with the same name.
  static Result<MixTraces> open(const MixRequest& request, Config& config);
};

/// All submissions of the runs, then those of the traces, each with its task. Answers without code are left
/// out and counted. An unknown problem, or a task that cannot be described, is an error.
Result<ModuleMix> read_mix(const MixRequest& request, const MixTraces& traces, const Config& config,
                           const Catalog& catalog, const Environment& environment);

}  // namespace hone
