// Default options, and the names of stages.
#include "evaluate/options.hpp"

#include <sched.h>

#include <algorithm>
#include <set>

#include "evaluate/evaluator.hpp"

namespace hone {
namespace {

/// Adds the cores of a device and its lanes.
void add_cores(const DeviceSpec& device, std::set<int>& used) {
  used.insert(device.judge_cpu);
  used.insert(device.cores.begin(), device.cores.end());
  for (const DeviceSpec& lane : device.lanes) add_cores(lane, used);
}

}  // namespace

std::string_view stage_name(Stage stage) {
  switch (stage) {
    case Stage::kQueued:
      return "queued";
    case Stage::kBuilding:
      return "building";
    case Stage::kChecking:
      return "checking";
    case Stage::kMeasuring:
      return "measuring";
  }
  return "queued";
}

EvaluatorOptions shared_by_lanes(EvaluatorOptions options) {
  const std::size_t lanes =
      1 + (options.devices.empty() ? 0 : options.devices.front().lanes.size());
  options.installed_max = std::max<std::size_t>(1, options.installed_max / lanes);
  return options;
}

std::vector<DeviceSpec> default_devices(const std::vector<int>& cores) {
  if (cores.empty()) return {{0, 0, {0}}};
  if (cores.size() < 4) return {{0, cores.front(), {cores.rbegin(), cores.rend()}}};
  std::vector<DeviceSpec> devices;
  for (std::size_t first = 0; first + 4 <= cores.size(); first += 4) {
    devices.push_back({static_cast<int>(devices.size()),
                       cores[first],
                       {cores[first + 1], cores[first + 2], cores[first + 3]}});
  }
  return devices;
}

std::vector<int> cores_without_other_devices(const std::vector<DeviceSpec>& devices, int index) {
  std::set<int> used;
  for (const DeviceSpec& device : devices) {
    if (device.index != index) add_cores(device, used);
  }
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return {};
  std::vector<int> left;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(static_cast<std::size_t>(core), &allowed) && used.count(core) == 0)
      left.push_back(core);
  }
  return left;
}

std::vector<int> cores_for_programs(const std::vector<DeviceSpec>& devices,
                                    const std::vector<int>& cores) {
  std::set<int> used, timed;
  for (const DeviceSpec& device : devices) {
    add_cores(device, used);
    if (!device.cores.empty()) timed.insert(device.cores.front());
  }
  for (const std::set<int>& avoided : {used, timed}) {
    std::vector<int> left;
    for (const int core : cores) {
      if (avoided.count(core) == 0) left.push_back(core);
    }
    if (!left.empty()) return left;
  }
  return cores;
}

}  // namespace hone
