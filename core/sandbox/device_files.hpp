// DeviceFiles: the device nodes and driver folders that processes with a device see.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace hone {

/// As a backend names them (core/include/hone/backend.h).
struct DeviceFiles {
  std::vector<std::string> nodes;    ///< "/dev/NAME", "/dev/NAME*"
  std::vector<std::string> folders;  ///< below /usr, /opt or /sys
};

/// invalid_argument if a node is not below /dev, a folder is not below /usr, /opt or /sys, or device_nodes() fails. The
/// message names the node or folder.
Status check_device_files(const DeviceFiles& files);

/// The character devices that match. invalid_argument if the major number of a match is not a device driver's, as for /dev/mem.
Result<std::vector<std::string>> device_nodes(const std::vector<std::string>& patterns);

/// The folders, and those that every driver reads.
std::vector<std::string> driver_folders(const DeviceFiles& files);

}  // namespace hone
