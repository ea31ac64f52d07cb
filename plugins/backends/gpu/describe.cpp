// Says what is there without a driver, and opens every device where that is asked for.
#include "describe.hpp"

#include <string>

#include "build.hpp"
#include "device.hpp"
#include "vendor_build.hpp"

namespace hone_gpu {
namespace {

using hone::plugin::Value;

std::string compiler_words() {
  try {
    const Compiler compiler = load_compiler("");
    return std::string(kCompilerName) + " " + std::to_string(compiler.major) + "." +
           std::to_string(compiler.minor);
  } catch (const hone::plugin::Failure&) {
    return {};  // a machine may have devices and build elsewhere
  }
}

Value probed_device(const hone_host* host, int index) {
  hone_device* device = nullptr;
  hone_error error{sizeof(hone_error), 0, {}};
  if (open_device(host, static_cast<std::uint32_t>(index), &device, &error) != HONE_OK) {
    return Value::map(
        {{"index", index}, {"name", ""}, {"error", static_cast<const char*>(error.message)}});
  }
  Value facts = current_facts(*device);
  close_device(device);
  return facts;
}

}  // namespace

Value description() {
  Value devices = listed_devices();
  std::string fingerprint = std::string(kName) + ", module " + module_version();
  if (module_version().empty()) fingerprint = std::string(kName) + ", no kernel module";
  for (const Value& device : devices.as_array()) {
    fingerprint += ", " + device.at("name").as_string();
  }
  const std::string summary =
      kHip ? "HIP device code on AMD's devices" : "CUDA device code on NVIDIA's devices";
  return Value::map({{"summary", summary},
                     {"devices", std::move(devices)},
                     {"languages", Value::array({kName})},
                     {"withholds", "stream"},
                     {"fingerprint", fingerprint}});
}

Value probed(const hone_host* host) {
  const Driver& gpu = driver();
  Value devices = Value::array();
  for (int i = 0; i < gpu.device_count; ++i) devices.push(probed_device(host, i));
  return Value::map({{"driver", driver_version(gpu)},
                     {"module", module_version()},
                     {"compiler", compiler_words()},
                     {"devices", std::move(devices)}});
}

}  // namespace hone_gpu
