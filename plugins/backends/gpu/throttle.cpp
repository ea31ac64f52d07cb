// Asks the vendor's management library (NVIDIA: NVML), where the machine has one.
#include "throttle.hpp"

#include <dlfcn.h>

#include <cstring>

#include "driver.hpp"
#include "libraries.hpp"
#include "vendor.h"

namespace hone_gpu {
namespace {

using NvmlDevice = struct nvmlDevice_st*;

struct Nvml {
  int (*by_address)(const char*, NvmlDevice*) = nullptr;
  int (*reasons)(NvmlDevice, unsigned long long*) = nullptr;
  int (*clock)(NvmlDevice, int, unsigned*) = nullptr;
};

template <typename Function>
bool find(void* library, const char* symbol, Function& function) {
  void* address = dlsym(library, symbol);
  std::memcpy(&function, &address, sizeof address);
  return address != nullptr;
}

Nvml load() {
  void* library = find_library(kManagementLibrary);
  if (library == nullptr) return {};
  Nvml nvml;
  int (*init)() = nullptr;
  if (!find(library, "nvmlInit_v2", init) ||
      !find(library, "nvmlDeviceGetHandleByPciBusId_v2", nvml.by_address) ||
      !find(library, "nvmlDeviceGetCurrentClocksThrottleReasons", nvml.reasons) ||
      !find(library, "nvmlDeviceGetClockInfo", nvml.clock) || init() != 0) {
    return {};
  }
  return nvml;
}

/// Bits of nvmlClocksThrottleReasons. Rationale: idle (1), and clocks that an administrator set (2), are
/// no throttling; a sync group's (0x10) and a display's (0x100) are settings, too.
struct Reason {
  unsigned long long bit;
  const char* name;
};
constexpr Reason kReasons[] = {
    {0x04, "power_cap"},        {0x08, "hardware"},    {0x20, "thermal_software"},
    {0x40, "thermal_hardware"}, {0x80, "power_brake"},
};

const Nvml& library() {
  static const Nvml loaded = load();
  return loaded;
}

}  // namespace

bool tells_throttling() { return library().reasons != nullptr; }

Clocks current_clocks(const std::string& pci_address) {
  constexpr int kCore = 1;  // NVML_CLOCK_SM
  constexpr int kMemory = 2;
  const Nvml& nvml = library();
  NvmlDevice device = nullptr;
  if (nvml.clock == nullptr || nvml.by_address(pci_address.c_str(), &device) != 0) return {};
  Clocks clocks;
  if (nvml.clock(device, kCore, &clocks.core_mhz) != 0) clocks.core_mhz = 0;
  if (nvml.clock(device, kMemory, &clocks.memory_mhz) != 0) clocks.memory_mhz = 0;
  return clocks;
}

std::vector<std::string> throttle_reasons(const std::string& pci_address) {
  const Nvml& nvml = library();
  NvmlDevice device = nullptr;
  unsigned long long bits = 0;
  if (nvml.reasons == nullptr || nvml.by_address(pci_address.c_str(), &device) != 0 ||
      nvml.reasons(device, &bits) != 0) {
    return {};
  }
  std::vector<std::string> found;
  for (const Reason& reason : kReasons) {
    if ((bits & reason.bit) != 0) found.emplace_back(reason.name);
  }
  return found;
}

}  // namespace hone_gpu
