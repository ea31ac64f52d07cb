// Loads a configuration, and the backends that describe sections of it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "sandbox/device_files.hpp"

namespace hone {

/// Backends in `root`/plugins/backends, and libraries of plugins.paths if plugins.in_process is set. It loads them into
/// this process and calls describe, which touches no device.
FindBackends backends_below(std::filesystem::path root);

/// The device files that sandboxed processes with a device of this backend see.
DeviceFiles device_files_of(const BackendDescription& description);

/// The configuration of this installation.
///
///   HONE_ASSIGN(const LoadedConfig loaded, load_config("configs/laptop.yaml",
///   {"server.drain_s=5"}));
Result<LoadedConfig> load_config(const std::filesystem::path& path,
                                 const std::vector<std::string>& sets = {});

}  // namespace hone
