// The acts that jail_probe can perform.
#pragma once

#include <string>

namespace hone {

/// The exit code for jail_probe; prints what was found.
int perform(const std::string& act, const std::string& detail);

/// main() of jail_probe.
int probe(int count, char** arguments);

}  // namespace hone
