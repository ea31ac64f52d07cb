// Messages between host and launcher, and their encoding.
#pragma once

#include <string>

#include "sandbox/launcher.hpp"
#include "sandbox/packet.hpp"
#include "sandbox/probe.hpp"

namespace hone {

/// Theory of operation. The host sends one kConfigure and gets one kReady. Each kSpawn has a number that the
/// host chooses. The answer is kStarted (with the pidfd, and the cgroup's two files if there is one) or
/// kFailed. After kStarted comes exactly one kExited, once the process and all its descendants have ended.
/// kKill requests that end. When the host closes the socket, the launcher kills all processes and exits.
enum class MessageKind : std::int64_t {
  kConfigure = 1,
  kReady,
  kSpawn,
  kStarted,
  kFailed,
  kKill,
  kExited,
};

/// kReady: the features that the launcher found and those that it will use. `refused`: the reason why it does
/// not serve.
struct Ready {
  Capabilities capabilities;
  IsolationLevel level = IsolationLevel::kNone;
  std::string freezer;
  std::string
      no_slot_users_reason;  ///< why slots do not get their own users, if only the freezer prevents it
  Code refused_code = Code::kOk;
  std::string refused;
};

void put(PacketWriter& to, const LauncherOptions& options);
void put(PacketWriter& to, const Ready& ready);
void put(PacketWriter& to, const SpawnRequest& request);  // descriptors are sent with the packet
/// Without the output, whose bytes follow the packet.
void put(PacketWriter& to, const ProcessExit& exit, std::size_t output_bytes);
LauncherOptions get_options(PacketReader& from);
Ready get_ready(PacketReader& from);
SpawnRequest get_request(PacketReader& from);
ProcessExit get_exit(PacketReader& from);

}  // namespace hone
