// Isolation levels: the sandbox features that the launcher uses, and the minimum to serve with.
#pragma once

#include "sandbox/messages.hpp"

namespace hone {

/// The level and the freezer in use: what the machine allows, cut to what the options allow; or why
/// it is refused.
Ready decide(const LauncherOptions& options, const Capabilities& capabilities);

/// Whether a jail's processes get the user of its slot. Builders get it wherever it can be had,
/// candidates only if the freezer in use can then still stop them.
bool uses_slot_user(const Ready& ready, const LauncherOptions& options, Jail jail);

}  // namespace hone
