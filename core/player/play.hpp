// The part of hone-player that runs under a sanitizer: it makes the calls of a plan.
#pragma once

#include <cstdint>
#include <string>

namespace hone {

/// Names of files in the working folder: the supervisor writes the first one, and the player the second one.
inline constexpr const char* kRequestFile = "request.bin";
inline constexpr const char* kEventsFile = "events.txt";

/// Opens the device and makes the calls one after another, each with memory of its own. Writes kEventsFile
/// (examine/device_sanitizer.hpp describes its lines). Returns the exit status: 0 if every call succeeded.
int play(const std::string& backend_library, std::uint32_t device);

}  // namespace hone
