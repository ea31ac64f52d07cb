// The backend's description of itself, and of the driver and devices of this machine.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hone/backend.h"
#include "hone/plugin.hpp"

namespace hone_gpu {

/// hone_backend_factory::describe: from what the kernel's files say, with no driver touched.
hone::plugin::Value description();

/// hone_backend_factory::probe. A Failure with HONE_UNAVAILABLE where there is no driver or no device.
hone::plugin::Value probed(const hone_host* host);

/// The devices that the vendor's kernel module lists, by the kernel's files: [{"index", "name", "cores"}].
hone::plugin::Value listed_devices();
/// The device nodes that a process with this device does not need. `pci`: a device's fact of this name. Nothing if the
/// device's own node is not known.
std::optional<std::vector<std::string>> nodes_of_others(const std::string& pci);
/// The paths in the folder whose names match, in order.
std::vector<std::string> paths_in(const std::string& folder,
                                  const std::function<bool(const std::string& name)>& matches);
/// The nodes `folder`/`prefix`NUMBER, but not that of `number`. Nothing if that one does not exist.
std::optional<std::vector<std::string>> other_nodes(const std::string& folder,
                                                    const std::string& prefix, int number);
/// The member "sanitizer" of the description; nil if the vendor has none that hone supports.
hone::plugin::Value sanitizer();
/// The member "counters" of the description; nil if the vendor has none that hone supports.
hone::plugin::Value counters();
/// The kernel module's version; "" where there is none.
std::string module_version();

}  // namespace hone_gpu
