// The part of hone-sanitizer that runs under the sanitizer: it makes the calls of a plan.
#pragma once

#include <string>

#include "base/result.hpp"
#include "model/value.hpp"

namespace hone {

/// Names of files in the working folder. The supervisor writes the first two, and the player the last one.
inline constexpr const char* kRequestFile = "request.bin";
inline constexpr const char* kArtifactFile = "artifact.bin";
inline constexpr const char* kEventsFile = "events.txt";
/// The first argument of the program if it is the player.
inline constexpr const char* kPlayArgument = "play";

/// Opens the device and makes the calls one after another, each with memory of its own. Writes kEventsFile
/// (examine/device_sanitizer.hpp describes its lines). Returns the exit status: 0 if every call succeeded.
int play(const std::string& backend_library, std::uint32_t device);

}  // namespace hone
