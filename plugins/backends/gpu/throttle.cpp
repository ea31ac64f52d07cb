// Asks the vendor's management library (NVIDIA: NVML), where the machine has one.
#include "throttle.hpp"

#include <dlfcn.h>

#include <cstring>

#include "vendor.h"

namespace hone_gpu {
namespace {

using NvmlDevice = struct nvmlDevice_st*;

struct Nvml {
  int (*by_address)(const char*, NvmlDevice*) = nullptr;
  int (*reasons)(NvmlDevice, unsigned long long*) = nullptr;
};

template <typename Function>
bool find(void* library, const char* symbol, Function& function) {
  void* address = dlsym(library, symbol);
  std::memcpy(&function, &address, sizeof address);
  return address != nullptr;
}

Nvml load() {
  if (kHip) return {};
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return {};
  Nvml nvml;
  int (*init)() = nullptr;
  if (!find(library, "nvmlInit_v2", init) ||
      !find(library, "nvmlDeviceGetHandleByPciBusId_v2", nvml.by_address) ||
      !find(library, "nvmlDeviceGetCurrentClocksThrottleReasons", nvml.reasons) || init() != 0) {
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

}  // namespace

std::vector<std::string> throttle_reasons(const std::string& pci_address) {
  static const Nvml nvml = load();
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
