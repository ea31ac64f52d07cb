// The backend's description of itself, and of the driver and devices of this machine.
#pragma once

#include "hone/backend.h"
#include "hone/plugin.hpp"

namespace hone_gpu {

/// hone_backend_factory::describe: from what the kernel's files say, with no driver touched.
hone::plugin::Value description();

/// hone_backend_factory::probe. A Failure with HONE_UNAVAILABLE where there is no driver or no device.
hone::plugin::Value probed(const hone_host* host);

/// The devices that the vendor's kernel module lists, by the kernel's files: [{"index", "name", "cores"}].
hone::plugin::Value listed_devices();
/// The kernel module's version; "" where there is none.
std::string module_version();

}  // namespace hone_gpu
