// An evaluator for Python modules on a device: the emulated one (HONE_MODULES_DEVICE=emulated: modules compute on
// the processor) or the machine's first one (=cuda).
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

#include "gpu/emulated_gpu.hpp"
#include "modules/module_case.hpp"
#include "places.hpp"

namespace hone::test {

inline constexpr double kFaster = 2.5;  // than a baseline that does the same

inline Expected timed(Expected expected) {
  expected.timed = true;
  return expected;
}
inline bool on_cuda() {
  const char* device = std::getenv("HONE_MODULES_DEVICE");
  return device != nullptr && std::string_view(device) == "cuda";
}

/// The limit applies on CUDA only: emulated work takes no time of its own, so its speedups are noise.
inline Expected slower_than(double speedup) {
  Expected expected{{kCorrect}};
  if (on_cuda()) expected.speedup_max = speedup;
  return expected;
}

inline EvaluatorOptions device_options() {
  EvaluatorOptions options = emulated_options("cuda");
  if (on_cuda())
    options.backend_library = build_dir() / "plugins/backends/cuda.so";
  else
    options.module_place = "emulated";
  return options;
}

/// On the same cores: `lanes` lanes of each device.
inline void add_lanes(EvaluatorOptions& options, std::size_t lanes) {
  for (DeviceSpec& device : options.devices) {
    const DeviceSpec lane = device;
    device.lanes.assign(lanes - 1, lane);
  }
}

inline Machine* device_machine(const std::vector<std::string>& off) {
  return machine_without(off, "cuda.python", device_options);
}

class BesideADevice : public testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("HONE_MODULES_PYTHON") == nullptr ||
        std::getenv("HONE_MODULES_DEVICE") == nullptr)
      GTEST_SKIP() << "HONE_MODULES_PYTHON or HONE_MODULES_DEVICE is not set";
    Machine* machine = find_machine();
    if (machine != nullptr && machine->launcher().level() < IsolationLevel::kPrivate)
      GTEST_SKIP() << "modules on a device need isolation 'private'";
  }
  virtual Machine* find_machine() { return device_machine({}); }
};

}  // namespace hone::test
