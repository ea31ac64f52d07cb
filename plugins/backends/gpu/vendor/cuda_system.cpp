// What Linux's files say of NVIDIA's devices.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "describe.hpp"
#include "driver.hpp"
#include "vendor/cupti.h"

namespace hone_gpu {
namespace {

constexpr char kFolder[] = "/proc/driver/nvidia";

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first);
}

/// compute-sanitizer of /usr/local/cuda, else of the newest toolkit, else of Debian's package; "" if there is none.
std::string compute_sanitizer() {
  std::vector<std::string> folders = toolkits();
  folders.emplace_back("/usr/lib/nvidia-cuda-toolkit");
  for (const std::string& folder : folders) {
    const std::string path = folder + "/compute-sanitizer/compute-sanitizer";
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path, ignored)) return path;
  }
  return "";
}

/// libcupti.so of /usr/local/cuda, of the other toolkits, newest first, and of Debian's package, as far as they exist.
hone::plugin::Value counter_libraries() {
  std::vector<std::string> paths;
  for (const std::string& folder : toolkits()) {
    paths.push_back(folder + "/extras/CUPTI/lib64/libcupti.so");
    paths.push_back(folder + "/targets/x86_64-linux/lib/libcupti.so");
    paths.push_back(folder + "/lib64/libcupti.so");
  }
  paths.emplace_back("/usr/lib/x86_64-linux-gnu/libcupti.so");
  hone::plugin::Value found = hone::plugin::Value::array();
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path, ignored)) found.push(path);
  }
  return found;
}

hone::plugin::Value counter_symbols() {
  hone::plugin::Value names = hone::plugin::Value::array();
  for (const char* name : cupti::kFunctions) names.push(name);
  return names;
}

/// A run of compute-sanitizer. Its report goes to a file, apart from what kernels print.
hone::plugin::Value run_of(const char* tool) {
  // Bytes behind each allocation that belong to no other one, so that a far overrun is found as well.
  constexpr const char* kPadding = "65536";
  constexpr const char* kErrorsMax = "64";
  return hone::plugin::Value::map(
      {{"name", tool},
       {"arguments",
        hone::plugin::Value::array({"--tool", tool, "--show-backtrace", "device",
                                    "--report-api-errors", "no", "--padding", kPadding,
                                    "--print-limit", kErrorsMax, "--log-file", "{report}"})}});
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

hone::plugin::Value sanitizer() {
  return hone::plugin::Value::map(
      {{"parameter", "compute_sanitizer"},
       {"program", compute_sanitizer()},
       {"help", kSanitizerHelp},
       {"runs", hone::plugin::Value::array({run_of("memcheck"), run_of("racecheck")})}});
}

hone::plugin::Value counters() {
  return hone::plugin::Value::map(
      {{"parameter", "cupti"},
       {"help", kCountersHelp},
       {"libraries", counter_libraries()},
       {"symbols", counter_symbols()},
       {"packages", hone::plugin::Value::array({"nvidia/cu13/lib/libcupti.so.13",
                                                "nvidia/cuda_cupti/lib/libcupti.so.12"})}});
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
