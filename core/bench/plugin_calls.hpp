// bench_plugins(): time of a reward's call within hone, in a plugin host and in Python, for `hone bench
// plugin`.
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
  int rounds = 15;  ///< rounds of each kind, interleaved; medians are reported
  int calls = 200;  ///< calls in each round
};

/// Times score() for an episode of four turns, with encoding and the check of the report, as in a
/// step; and the time from the start of a plugin host to its first answer. Takes some seconds.
///
///   HONE_ASSIGN(const Value figures, bench_plugins(options));   // [{name, value, unit, …}, …]
Result<Value> bench_plugins(const PluginBenchOptions& options);

}  // namespace hone
