// Why a device's clocks are below what they could be.
#pragma once

#include <string>
#include <vector>

namespace hone_gpu {

/// {"power_cap", "thermal", …} of the device at this PCI address ("00000000:17:00.0"), as of now; empty
/// where nothing holds it back, and where the machine cannot say. Costs some ten µs after the
/// first call.
std::vector<std::string> throttle_reasons(const std::string& pci_address);

}  // namespace hone_gpu
