// The process of hone-player, which makes a submission's calls on a device for a tool.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "evaluate/options.hpp"
#include "model/value.hpp"
#include "sandbox/launcher.hpp"

namespace hone {

/// A process of hone-player. It serves one request. [one thread]
struct Player {
  std::unique_ptr<Process> process;  ///< null: none
  UniqueFd socket;
  bool is_ready = false;  ///< its greeting was taken: it waits for its request
  /// It has begun with the submission. Earlier failures are its own, later ones may be the submission's.
  bool has_begun = false;
};

/// One request for hone-player.
struct PlayerRequest {
  Value request;       ///< DeviceCalls::request, with "artifact" and what the service needs
  double seconds = 0;  ///< time limit; it includes the start of a process that is not ready
};

/// The untrusted answer, and the host's decision whether the process was starved.
struct PlayerAnswer {
  std::optional<std::string> bytes;  ///< nullopt: it did not answer in time, or ended
  /// Other work used the cores for most of the time, by the kernel's statistics.
  bool was_starved = false;
};

/// Starts a process. `service`: "sanitize" or "count". `tool`: path of the sanitizer, or of the library that reads counters.
/// `hidden_nodes`: device nodes that the process does not see; if there are any, it finds the device under index 0.
/// unavailable: a fault of the machine.
Result<Player> start_player(Launcher& launcher, const EvaluatorOptions& options,
                            const DeviceSpec& spec, const std::vector<std::string>& hidden_nodes,
                            const std::string& service, const std::string& tool);

/// Takes the greeting of a process whose socket can be read. Error: why the process cannot serve. Call it once, then
/// set Player::is_ready.
Status take_greeting(Process& process, int socket);
/// Ends the process if it runs. Returns unavailable, with the message and the process' output.
Error fault_of_player(Process& process, const std::string& message);

/// Sends the process the request, and waits for its answer. The caller holds the device. Afterwards it ends the process, which
/// may still use the device. Rationale: a context takes time to end, and the answer need not wait for that.
/// unavailable: a fault of the machine.
Result<PlayerAnswer> ask_player(Player& player, const PlayerRequest& asked);

}  // namespace hone
