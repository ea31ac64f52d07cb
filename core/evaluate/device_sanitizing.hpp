// Runs a submission under a device's sanitizer, in the process of hone-player.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "evaluate/options.hpp"
#include "evaluate/player_process.hpp"
#include "examine/device_sanitizer.hpp"

namespace hone {

/// The untrusted answer of the sanitizer's process, and the host's decision whether it was starved.
struct SanitizerReply {
  struct Run {
    DeviceSanitizerRun run;
    std::int64_t status = 0;
    bool timed_out = false;
  };
  std::vector<Run> runs;  ///< empty: the process did not answer in time, or ended
  /// Other work had the cores most of the time. The host decides it, from the kernel's counts.
  bool was_starved = false;
};

/// failed_precondition: the sanitizer's program is missing; the message says how to install it.
Status expect_sanitizer(const DeviceSanitizer& sanitizer);

/// The time limit of the sanitizer's process, for all runs together (s).
double sanitizer_seconds(const DeviceSanitizer& sanitizer);

/// Makes the program's calls under the sanitizer, in a process of the service "sanitize". The caller holds the device, and ends
/// the process. unavailable: a fault of the machine.
Result<SanitizerReply> sanitize_on_device(Player& player, const EvaluatorOptions& options,
                                          const DeviceCalls& program, const std::string& artifact);

}  // namespace hone
