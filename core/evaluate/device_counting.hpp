// Reads hardware counters for a submission's timed call, in the process of hone-player.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "evaluate/options.hpp"
#include "evaluate/player_process.hpp"
#include "examine/device_calls.hpp"
#include "model/launch_counters.hpp"
#include "model/verdict.hpp"

namespace hone {

/// The time limit of the process (s) for a submission with this verdict, which has a speedup.
double counting_seconds(const Verdict& verdict);

/// Why this library cannot read counters; empty: it has all functions. Does not load it.
std::string trouble_with(const std::string& path, const DeviceCounters& counters);

/// Sets `counters.path` to the library that the backend's `options` name. If they say "auto", takes the first library with all
/// functions: first from the backend's paths, then from the packages of the interpreter `python` (empty: no interpreter).
/// Returns the libraries that it did not take, each with the reason.
std::vector<std::string> find_library(DeviceCounters& counters, const Value& options,
                                      const std::string& python);

/// failed_precondition: there is no library that reads counters; the message says how to install it.
Status expect_counters(const DeviceCounters& counters);

/// The code that empties the device's cache at the beginning of each pass.
struct CacheSweepCode {
  std::string harness;  ///< the artifact of the judge's own device code
  std::uint64_t cache_bytes = 0;
};

/// Makes the call once for each pass of the counters, in a process of the service "count". The caller holds the device, and
/// ends the process. `seconds`: as PlayerRequest::seconds.
/// failed_precondition: nothing was counted; the message says why. unavailable: a fault of the machine.
Result<std::vector<LaunchCounters>> count_on_device(Player& player, const EvaluatorOptions& options,
                                                    const DeviceCalls& call,
                                                    const CacheSweepCode& sweep,
                                                    const std::string& artifact, double seconds);

}  // namespace hone
