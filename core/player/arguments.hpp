// What hone-player's two services have in common: their arguments, and the connection to the host.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/value.hpp"
#include "sandbox/device_files.hpp"

namespace hone {

struct PlayerArguments {
  std::string self;     ///< path of hone-player
  std::string library;  ///< of the backend
  std::string device;   ///< index
  std::string tool;     ///< path of the sanitizer, or of the library that reads counters
  std::vector<std::string> readable;  ///< folders
};

/// The first argument of the player, which runs under a sanitizer.
inline constexpr const char* kPlayArgument = "play";
inline constexpr int kPlayerHost = 3;      ///< descriptor of the connection to the host
inline constexpr int kPlayerFailure = 70;  ///< exit status after a failure of its own

/// The device's files that the backend in this library describes.
Result<DeviceFiles> device_files(const std::string& library);
/// The current folder.
std::string working_folder();
/// Tells the host that this process is sealed and waits for its request. False: the host has closed the connection.
bool greet_host();
/// Tells the host that this process begins with the submission. Failures before that are not the submission's. False: as above.
bool begin_for_host();
/// The request. An error: the host has closed the connection.
Result<Value> request_from_host();
/// Sends the answer. Returns the exit status.
int answer_host(const Value& answer);
/// Prints the error for the host's log. Returns the exit status.
int fail_with(const Error& error);

}  // namespace hone
