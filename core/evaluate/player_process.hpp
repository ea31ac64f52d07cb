// The process of hone-player, which makes a submission's calls on a device for a tool.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "evaluate/options.hpp"
#include "model/value.hpp"
#include "sandbox/launcher.hpp"

namespace hone {

/// One request for hone-player.
struct PlayerRequest {
  std::string service;  ///< "sanitize" or "count"
  std::string tool;     ///< path of the sanitizer, or of the library that reads counters
  Value request;        ///< DeviceCalls::request, with "artifact" and what the service needs
  double seconds = 0;   ///< limit of the answer
};

/// The untrusted answer, and the host's decision whether the process was starved.
struct PlayerAnswer {
  std::optional<std::string> bytes;  ///< nullopt: it did not answer in time, or ended
  /// Other work used the cores for most of the time, by the kernel's statistics.
  bool was_starved = false;
};

/// Starts the process, sends it the request, and waits for its answer. The caller holds the device.
/// `hidden_nodes`: device nodes that the process does not see; if there are any, it finds the device under index 0.
/// `running`: called with the process, so that another thread can end it, and with null before it is destroyed.
/// unavailable: a fault of the machine.
Result<PlayerAnswer> ask_player(Launcher& launcher, const EvaluatorOptions& options,
                                const DeviceSpec& spec,
                                const std::vector<std::string>& hidden_nodes,
                                const PlayerRequest& asked,
                                const std::function<void(Process*)>& running);

}  // namespace hone
