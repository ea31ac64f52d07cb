// Says what is there without a driver.
#include "describe.hpp"

#include <string>

#include "vendor.h"

namespace hone_gpu {

using hone::plugin::Value;

Value description() {
  Value devices = listed_devices();
  std::string fingerprint = std::string(kName) + ", module " + module_version();
  if (module_version().empty()) fingerprint = std::string(kName) + ", no kernel module";
  for (const Value& device : devices.as_array()) {
    fingerprint += ", " + device.at("name").as_string();
  }
  const std::string summary = kHip ? "HIP device code and Python modules on AMD's devices"
                                   : "CUDA device code and Python modules on NVIDIA's devices";
  return Value::map(
      {{"summary", summary},
       {"devices", std::move(devices)},
       {"languages", Value::array({kName, "python"})},
       {"withholds", "stream"},
       {"fingerprint", fingerprint},
       {"needs", Value::map({{"driver", kDriverHelp}, {"compiler", kCompilerHelp}})}});
}

}  // namespace hone_gpu
