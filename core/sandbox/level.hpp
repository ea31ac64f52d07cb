// Level: which of a machine's walls the launcher uses, and whether they are enough to serve behind.
#pragma once

#include "sandbox/messages.hpp"

namespace hone {

/// The level and the freezer in use: what the machine allows, cut to what the options allow; or why
/// it is refused.
Ready decide(const LauncherOptions& options, const Capabilities& capabilities);

inline bool uses_slot_users(const Ready& ready) {
  return ready.level >= IsolationLevel::kSeparated && ready.capabilities.slot_users;
}

}  // namespace hone
