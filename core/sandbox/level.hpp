// Isolation levels: the sandbox features that the launcher uses, and the minimum to serve with.
#pragma once

#include "sandbox/messages.hpp"

namespace hone {

/// The isolation level and the freezer to use: the machine's, limited by the options; or the reason for a
/// refusal.
Ready decide(const LauncherOptions& options, const Capabilities& capabilities);

/// Whether the processes of a jail run as the user of their slot. Builders do wherever that is possible,
/// candidates only if the freezer can then still stop them.
bool uses_slot_user(const Ready& ready, const LauncherOptions& options, Jail jail);

}  // namespace hone
