// Says what is there without a driver.
#include "describe.hpp"

#include <algorithm>
#include <filesystem>
#include <string>

#include "vendor.h"

namespace hone_gpu {

using hone::plugin::Value;

namespace {

Value parameter(const char* type, Value fallback, const char* doc) {
  return Value::map({{"type", type}, {"default", std::move(fallback)}, {"doc", doc}});
}

/// A parameter whose values are paths that builders may read.
Value path_parameter(const char* type, Value fallback, const char* path, const char* doc) {
  Value made = parameter(type, std::move(fallback), doc);
  made.set("path", path);
  return made;
}

Value parameters() {
  Value made = Value::map(
      {{"compiler",
        path_parameter("str", "auto", "file", "path of the runtime compiler's library, or auto")},
       {"architecture",
        parameter("str", "", "target architecture; empty: the architecture of the device")},
       {"flags",
        parameter("[str]", Value::array(), "flags for the compiler; hone adds all others")},
       {"include",
        path_parameter("[str]", Value::array(), "folder",
                       "folders of the vendor's headers; empty: the toolkit's folders")}});
  if (kHasSanitizer) {
    made.set("compute_sanitizer",
             path_parameter("str", "auto", "file",
                            "path of compute-sanitizer, which the tool sanitize runs, or auto"));
  }
  if (kHasCounters) {
    made.set("cupti", path_parameter("str", "auto", "file",
                                     "path of CUPTI's library, with which the tool profile reads "
                                     "hardware counters, or auto"));
  }
  return made;
}

template <std::size_t count>
Value texts(const char* const (&items)[count]) {
  Value made = Value::array();
  for (const char* item : items) made.push(item);
  return made;
}

}  // namespace

std::vector<std::string> paths_in(const std::string& folder,
                                  const std::function<bool(const std::string& name)>& matches) {
  std::vector<std::string> paths;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    if (matches(at->path().filename().string())) paths.push_back(at->path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::optional<std::vector<std::string>> other_nodes(const std::string& folder,
                                                    const std::string& prefix, int number) {
  std::vector<std::string> nodes = paths_in(folder, [&](const std::string& name) {
    return name.size() > prefix.size() && name.compare(0, prefix.size(), prefix) == 0 &&
           name.find_first_not_of("0123456789", prefix.size()) == std::string::npos;
  });
  const auto own = std::find(nodes.begin(), nodes.end(),
                             (std::filesystem::path(folder) / (prefix + std::to_string(number))));
  if (own == nodes.end()) return std::nullopt;
  nodes.erase(own);
  return nodes;
}

Value description() {
  Value devices = listed_devices();
  std::string fingerprint = std::string(kName) + ", module " + module_version();
  if (module_version().empty()) fingerprint = std::string(kName) + ", no kernel module";
  for (const Value& device : devices.as_array()) {
    fingerprint += ", " + device.at("name").as_string();
  }
  Value made =
      Value::map({{"summary", kSummary},
                  {"devices", std::move(devices)},
                  {"languages", Value::array({kName, "python"})},
                  {"suffixes", Value::map({{kName, kSuffix}, {"python", ".py"}})},
                  {"parameters", parameters()},
                  {"device_nodes", texts(kDeviceNodes)},
                  {"driver_folders", texts(kDriverFolders)},
                  {"replays_plans", kReplaysPlans},
                  {"reports", kWritesAssembly ? Value::array({"code"}) : Value::array()},
                  {"withholds", "stream"},
                  {"fingerprint", fingerprint},
                  {"needs", Value::map({{"driver", kDriverHelp}, {"compiler", kCompilerHelp}})}});
  if (Value about = sanitizer(); !about.is_nil()) made.set("sanitizer", std::move(about));
  if (Value about = counters(); !about.is_nil()) made.set("counters", std::move(about));
  return made;
}

}  // namespace hone_gpu
