// The process of hone-sanitizer, which runs a submission under a device's sanitizer.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "evaluate/options.hpp"
#include "examine/device_sanitizer.hpp"
#include "sandbox/launcher.hpp"

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

/// Takes the program that the backend's `options` name, unless they say "auto".
void use_named_program(DeviceSanitizer& sanitizer, const Value& options);

/// failed_precondition: the sanitizer's program is missing; the message says how to install it.
Status expect_sanitizer(const DeviceSanitizer& sanitizer);

/// The time limit of the sanitizer's process, for all runs together (s).
double sanitizer_seconds(const DeviceSanitizer& sanitizer);

/// Starts the process, sends it the program and the artifact, and waits for its answer. The caller holds the device.
/// `hidden_nodes`: device nodes that the process does not see; if there are any, it finds the device under index 0.
/// `running`: called with the process, so that another thread can end it, and with null before it is destroyed.
/// unavailable: a fault of the machine.
Result<SanitizerReply> sanitize_on_device(Launcher& launcher, const EvaluatorOptions& options,
                                          const DeviceSpec& spec,
                                          const std::vector<std::string>& hidden_nodes,
                                          const DeviceSanitizerProgram& program,
                                          const std::string& artifact,
                                          const std::function<void(Process*)>& running);

}  // namespace hone
