// What a device is and can do, from its driver's attributes.
#include <algorithm>
#include <string>

#include "describe.hpp"
#include "device.hpp"
#include "errors.hpp"
#include "throttle.hpp"

namespace hone_gpu {
namespace {

using hone::plugin::Value;

/// A multiprocessor moves at most this much in a cycle, from and to its own caches and shared
/// memory.
constexpr double kBytesPerCycle = 128;
constexpr int kClusterMax = 8;  // what every device that has clusters can start

std::string name_of(const hone_device& device) {
  char name[256] = "";
  check(device.gpu, device.gpu.gpuDeviceGetName(name, sizeof name - 1, device.ordinal), "name");
  return name;
}

double dram_bytes_per_second(const hone_device& device, const std::string& architecture) {
  const double clock = 1e3 * attribute(device, kDeviceMemoryClockKhz);
  const double bytes = attribute(device, kDeviceMemoryBusBits) / 8.0;
  return clock * bytes * transfers_per_clock(architecture);
}

/// In single precision, without tensor cores.
double f32_flops_per_second(const hone_device& device, const std::string& architecture) {
  const double clock = 1e3 * attribute(device, kDeviceClockKhz);
  return 2.0 * f32_lanes(architecture) * attribute(device, kDeviceMultiprocessors) * clock;
}

Value limits_of(const hone_device& device) {
  const auto get = [&](int which) { return attribute(device, which); };
  const bool clusters = kDeviceClusters >= 0 && get(kDeviceClusters) != 0;
  return Value::map(
      {{"grid", Value::array({get(kDeviceGridX), get(kDeviceGridY), get(kDeviceGridZ)})},
       {"block", Value::array({get(kDeviceBlockX), get(kDeviceBlockY), get(kDeviceBlockZ)})},
       {"block_threads", get(kDeviceBlockThreads)},
       {"shared_bytes", get(kDeviceSharedBytes)},
       {"cluster", clusters ? kClusterMax : 0}});
}

std::string pci_address(const hone_device& device) {
  char address[32];
  std::snprintf(address, sizeof address, "%08x:%02x:%02x.0",
                static_cast<unsigned>(attribute(device, kDevicePciDomain)),
                static_cast<unsigned>(attribute(device, kDevicePciBus)),
                static_cast<unsigned>(attribute(device, kDevicePciDevice)));
  return address;
}

}  // namespace

std::string driver_version(const Driver& gpu) { return version_text(gpu.version); }

void learn_facts(hone_device& device) {
  const auto get = [&](int which) { return attribute(device, which); };
  const std::string architecture =
      architecture_of(static_cast<int>(device.index), get(kDeviceMajor), get(kDeviceMinor));
  const int multiprocessors = get(kDeviceMultiprocessors);
  const double clock = 1e3 * get(kDeviceClockKhz);
  std::size_t memory = 0;
  check(device.gpu, device.gpu.gpuDeviceTotalMem(&memory, device.ordinal), "memory");
  device.facts = Value::map(
      {{"index", static_cast<std::int64_t>(device.index)},
       {"name", name_of(device)},
       {"architecture", architecture},
       {"driver", driver_version(device.gpu)},
       {"memory_bytes", memory},
       {"cache_bytes", std::max<std::int64_t>(get(kDeviceCacheBytes), outer_cache(architecture))},
       {"multiprocessors", multiprocessors},
       {"bytes_per_second_max", multiprocessors * kBytesPerCycle * clock},
       {"dram_bytes_per_second", dram_bytes_per_second(device, architecture)},
       {"host_memory_reachable", get(kDevicePageableMemory) != 0},
       {"limits", limits_of(device)},
       {"pci", pci_address(device)}});
  if (const double flops = f32_flops_per_second(device, architecture); flops > 0)
    device.facts.set("flops_per_second_max", Value::map({{"f32", flops}}));
  const auto others = nodes_of_others(device.facts.at("pci").as_string());
  if (!others) return;
  Value nodes = Value::array();
  for (const std::string& node : *others) nodes.push(node);
  device.facts.set("other_nodes", std::move(nodes));
}

Value current_facts(const hone_device& device) {
  Value facts = device.facts;
  Value reasons = Value::array();
  for (const std::string& reason : throttle_reasons(facts.at("pci").as_string())) {
    reasons.push(reason);
  }
  facts.set("throttled", std::move(reasons));
  return facts;
}

}  // namespace hone_gpu
