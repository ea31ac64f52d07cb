// What Linux's files say of NVIDIA's devices.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "describe.hpp"

namespace hone_gpu {
namespace {

constexpr char kFolder[] = "/proc/driver/nvidia";

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first);
}

/// Nodes of switches, displays and tools, such as nvidia-nvswitch0. A computation needs nvidiactl and nvidia-uvm only.
void add_control_nodes(std::vector<std::string>& nodes) {
  const std::vector<std::string> found = paths_in("/dev", [](const std::string& name) {
    return name.rfind("nvidia-", 0) == 0 && name != "nvidia-uvm";
  });
  nodes.insert(nodes.end(), found.begin(), found.end());
}

}  // namespace

hone::plugin::Value listed_devices() {
  std::vector<std::string> folders;
  std::error_code error;
  for (std::filesystem::directory_iterator at(std::string(kFolder) + "/gpus", error), end;
       !error && at != end; at.increment(error)) {
    folders.push_back(at->path().string());
  }
  std::sort(folders.begin(), folders.end());  // by PCI address
  hone::plugin::Value devices = hone::plugin::Value::array();
  for (std::size_t i = 0; i < folders.size(); ++i) {
    std::ifstream information(folders[i] + "/information");
    std::string name = "NVIDIA device";
    for (std::string line; std::getline(information, line);) {
      if (line.rfind("Model:", 0) == 0) name = trimmed(line.substr(6));
    }
    devices.push(hone::plugin::Value::map({{"index", i}, {"name", name}, {"cores", 0}}));
  }
  return devices;
}

std::optional<std::vector<std::string>> nodes_of_others(const std::string& pci) {
  // The kernel module writes the PCI domain with four digits; the fact "pci" has eight.
  constexpr std::size_t kMoreDigits = 4;
  if (pci.size() <= kMoreDigits) return std::nullopt;
  std::ifstream information(std::string(kFolder) + "/gpus/" + pci.substr(kMoreDigits) +
                            "/information");
  constexpr char kMinor[] = "Device Minor:";
  for (std::string line; std::getline(information, line);) {
    if (line.rfind(kMinor, 0) != 0) continue;
    const std::string number = trimmed(line.substr(sizeof kMinor - 1));
    if (number.empty() || number.find_first_not_of("0123456789") != std::string::npos) break;
    auto nodes = other_nodes("/dev", "nvidia", std::stoi(number));
    if (nodes) add_control_nodes(*nodes);
    return nodes;
  }
  return std::nullopt;
}

std::string module_version() {
  std::ifstream file("/sys/module/nvidia/version");
  std::string version;
  if (std::getline(file, version)) return version;
  // "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Tue …", or "… Open Kernel Module for
  // x86_64  580.95.05  …": the first word that is all digits and points.
  std::ifstream words(std::string(kFolder) + "/version");
  while (words >> version) {
    if (version.find('.') != std::string::npos &&
        version.find_first_not_of("0123456789.") == std::string::npos) {
      return version;
    }
  }
  return "";
}

}  // namespace hone_gpu
