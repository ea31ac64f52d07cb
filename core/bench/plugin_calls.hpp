// bench_plugins(): what a call of a reward costs in hone, in a plugin host and in Python, for
// `hone bench plugin`.
#pragma once

#include <filesystem>
#include <functional>

#include "base/result.hpp"
#include "model/value.hpp"
#include "plugin_host/hosted_plugin.hpp"

namespace hone {

struct PluginBenchOptions {
  std::filesystem::path library;  ///< a reward that takes an empty configuration
  std::filesystem::path python;   ///< likewise
  PluginHostOptions hosts;
  int rounds = 15;  ///< the three take turns so often; medians are reported
  int calls = 200;  ///< a round
};

/// score() of an episode of four turns, with everything around it that a step has: encoding,
/// the call, checking the report. And the time from nothing to the first answer. Some seconds.
///
///   HONE_ASSIGN(const Value figures, bench_plugins(options));   // [{name, value, unit, …}, …]
Result<Value> bench_plugins(const PluginBenchOptions& options);

}  // namespace hone
