// What Linux's files say of AMD's devices: the topology of the amdkfd driver.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "describe.hpp"
#include "vendor.h"

namespace hone_gpu {
namespace {

constexpr char kNodes[] = "/sys/class/kfd/kfd/topology/nodes";

/// "gfx942" of 90402, "gfx90a" of 90010: two digits each, the last ones in hexadecimal.
std::string architecture_name(long long version) {
  constexpr char kDigits[] = "0123456789abcdef";
  const auto digit = [&](long long value) { return kDigits[std::clamp(value, 0ll, 15ll)]; };
  return "gfx" + std::to_string(version / 10000) + digit(version / 100 % 100) +
         digit(version % 100);
}

struct Node {
  std::string architecture;
  long long cores = 0;
  long long domain = 0, location = 0;  // on PCI: location is bus, device and function
  long long render = 0;                // number of /dev/dri/renderD…
};

/// The nodes that are devices, in the driver's order.
std::vector<Node> device_nodes() {
  std::map<int, std::filesystem::path> folders;
  std::error_code error;
  for (std::filesystem::directory_iterator at(kNodes, error), end; !error && at != end;
       at.increment(error)) {
    folders[std::atoi(at->path().filename().c_str())] = at->path();
  }
  std::vector<Node> nodes;
  for (const auto& [number, folder] : folders) {
    std::ifstream file(folder / "properties");
    std::map<std::string, long long> properties;
    std::string key;
    for (long long value = 0; file >> key >> value;) properties[key] = value;
    if (properties["simd_count"] == 0) continue;
    const long long per_core = std::max(1ll, properties["simd_per_cu"]);
    nodes.push_back({architecture_name(properties["gfx_target_version"]),
                     properties["simd_count"] / per_core, properties["domain"],
                     properties["location_id"], properties["drm_render_minor"]});
  }
  return nodes;
}

}  // namespace

hone::plugin::Value sanitizer() { return {}; }
hone::plugin::Value counters() { return {}; }

std::string architecture_of(int index, int major, int minor) {
  const std::vector<Node> nodes = device_nodes();
  const auto at = static_cast<std::size_t>(index);
  return at < nodes.size() ? nodes[at].architecture
                           : architecture_name(10000ll * major + 100ll * minor);
}

hone::plugin::Value listed_devices() {
  hone::plugin::Value devices = hone::plugin::Value::array();
  const std::vector<Node> nodes = device_nodes();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    devices.push(hone::plugin::Value::map({{"index", i},
                                           {"name", "AMD " + nodes[i].architecture},
                                           {"cores", static_cast<std::int64_t>(nodes[i].cores)}}));
  }
  return devices;
}

std::optional<std::vector<std::string>> nodes_of_others(const std::string& pci) {
  unsigned domain = 0, bus = 0, device = 0;
  if (std::sscanf(pci.c_str(), "%x:%x:%x.0", &domain, &bus, &device) != 3) return std::nullopt;
  const long long location = (static_cast<long long>(bus) << 8) | (device << 3);
  // Partitions of one device have the same address, and then the own node is not known.
  const std::vector<Node> nodes = device_nodes();
  const auto is_own = [&](const Node& node) {
    return node.domain == domain && node.location == location && node.render > 0;
  };
  if (std::count_if(nodes.begin(), nodes.end(), is_own) != 1) return std::nullopt;
  const auto own = std::find_if(nodes.begin(), nodes.end(), is_own);
  return other_nodes("/dev/dri", "renderD", static_cast<int>(own->render));
}

std::string module_version() {
  std::ifstream file("/sys/module/amdgpu/version");
  std::string version;
  std::getline(file, version);
  return version;
}

}  // namespace hone_gpu
