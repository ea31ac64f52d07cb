// Opens every device and says what it is, what its clocks do, and whether what hone needs of it works.
#include <unistd.h>

#include <string>

#include "build.hpp"
#include "describe.hpp"
#include "device.hpp"
#include "throttle.hpp"

namespace hone_gpu {
namespace {

using hone::plugin::Value;

constexpr std::uint64_t kTrialBytes = 1 << 20;

std::string compiler_words() {
  try {
    const Compiler compiler = load_compiler("");
    return std::string(kCompilerName) + " " + std::to_string(compiler.major) + "." +
           std::to_string(compiler.minor);
  } catch (const hone::plugin::Failure&) {
    return {};  // a machine may have devices and build elsewhere
  }
}

/// Exports memory, imports it again and reads through the one what was written through the other.
int32_t share(hone_device* device, hone_buffer** made, hone_buffer** imported, int32_t* fd,
              hone_error* error) {
  constexpr std::uint64_t kWritten = 0x5ca1ab1e0ddba11ull;
  constexpr std::uint64_t kAt = kTrialBytes - sizeof kWritten;
  std::uint64_t read = 0;
  int32_t code = create_buffer(device, kTrialBytes, made, error);
  if (code == HONE_OK) code = export_buffer(*made, fd, error);
  if (code == HONE_OK) code = import_buffer(device, *fd, kTrialBytes, imported, error);
  if (code == HONE_OK) code = write_buffer(*made, kAt, &kWritten, sizeof kWritten, error);
  if (code == HONE_OK) code = read_buffer(*imported, kAt, &read, sizeof read, error);
  if (code != HONE_OK) return code;
  return hone::plugin::guard(error, [&] {
    if (read != kWritten) {
      hone::plugin::fail(HONE_UNAVAILABLE, "what was written is not what another mapping reads");
    }
  });
}

/// "" where memory can be shared; else why not.
std::string sharing_trouble(hone_device* device) {
  hone_buffer* made = nullptr;
  hone_buffer* imported = nullptr;
  int32_t fd = -1;
  hone_error error{sizeof(hone_error), 0, {}};
  const int32_t code = share(device, &made, &imported, &fd, &error);
  release_buffer(imported);
  release_buffer(made);
  if (fd >= 0) close(fd);
  return code == HONE_OK ? "" : static_cast<const char*>(error.message);
}

Value peers_of(const hone_device& device) {
  Value peers = Value::array();
  for (int i = 0; i < device.gpu.device_count; ++i) {
    gpuDevice other = 0;
    if (i == static_cast<int>(device.index) || device.gpu.gpuDeviceGet(&other, i) != 0) continue;
    if (reaches(device.gpu, device.ordinal, other)) peers.push(i);
  }
  return peers;
}

Value clocks_of(const hone_device& device) {
  const Clocks now = current_clocks(device.facts.at("pci").as_string());
  return Value::map({{"core_hz_max", 1e3 * attribute(device, kDeviceClockKhz)},
                     {"memory_hz_max", 1e3 * attribute(device, kDeviceMemoryClockKhz)},
                     {"core_hz", 1e6 * now.core_mhz},
                     {"memory_hz", 1e6 * now.memory_mhz}});
}

Value probed_device(const hone_host* host, int index) {
  hone_device* device = nullptr;
  hone_error error{sizeof(hone_error), 0, {}};
  if (open_device(host, static_cast<std::uint32_t>(index), &device, &error) != HONE_OK) {
    return Value::map(
        {{"index", index}, {"name", ""}, {"error", static_cast<const char*>(error.message)}});
  }
  Value found = current_facts(*device);
  found.set("clocks", clocks_of(*device));
  found.set("throttle_known", tells_throttling());
  found.set("cooperative", attribute(*device, kDeviceCooperative) != 0);
  found.set("peers", peers_of(*device));
  found.set("sharing", sharing_trouble(device));
  close_device(device);
  return found;
}

}  // namespace

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
