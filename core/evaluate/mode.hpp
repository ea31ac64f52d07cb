// Mode: the four ways to run a submission. A task's mode is chosen once, in sources.cpp.
#pragma once

namespace hone {

enum class Mode {
  kNativeOnCpu,     ///< machine code, loaded into the candidate
  kPlanOnDevice,    ///< device code and a plan; the candidate has hone's host code alone
  kModuleOnCpu,     ///< a Python module; its times mean nothing
  kModuleOnDevice,  ///< a Python module that uses the device from its own host code
};

constexpr bool is_module(Mode mode) {
  return mode == Mode::kModuleOnCpu || mode == Mode::kModuleOnDevice;
}
constexpr bool uses_device(Mode mode) {
  return mode == Mode::kPlanOnDevice || mode == Mode::kModuleOnDevice;
}
/// Whether submissions are timed, against a baseline that is installed.
constexpr bool is_timed(Mode mode) { return mode != Mode::kModuleOnCpu; }

}  // namespace hone
