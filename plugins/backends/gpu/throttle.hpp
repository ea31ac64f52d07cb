// A device's clocks now, and why they are below what they could be.
#pragma once

#include <string>
#include <vector>

namespace hone_gpu {

/// {"power_cap", "thermal", …} of the device at this PCI address ("00000000:17:00.0"), as of now; empty
/// where nothing holds it back, and where the machine cannot say. Costs some ten µs after the
/// first call.
std::vector<std::string> throttle_reasons(const std::string& pci_address);
/// Whether the machine can say.
bool tells_throttling();

/// As of now; 0 where the machine cannot say.
struct Clocks {
  unsigned core_mhz = 0, memory_mhz = 0;
};
Clocks current_clocks(const std::string& pci_address);

}  // namespace hone_gpu
