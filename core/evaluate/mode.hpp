// Mode: the five ways to run a submission. It is chosen once: the task's in sources.cpp, and whether a module is
// replayed in recording.cpp.
#pragma once

namespace hone {

enum class Mode {
  kNativeOnCpu,     ///< machine code, loaded into the candidate
  kPlanOnDevice,    ///< device code and a plan; the candidate has hone's host code alone
  kModuleOnCpu,     ///< a Python module; its times mean nothing
  kModuleOnDevice,  ///< a Python module that uses the device from its own host code
  kRecordedModule,  ///< a Python module's recorded plan; the candidate has hone's host code alone
};

/// Whether the submission's own Python runs in its process.
constexpr bool is_module(Mode mode) {
  return mode == Mode::kModuleOnCpu || mode == Mode::kModuleOnDevice;
}
constexpr bool uses_device(Mode mode) {
  return mode == Mode::kPlanOnDevice || mode == Mode::kModuleOnDevice ||
         mode == Mode::kRecordedModule;
}
/// The mode of the task's reference: it is never replayed.
constexpr Mode mode_of_reference(Mode mode) {
  return mode == Mode::kRecordedModule ? Mode::kModuleOnDevice : mode;
}
/// Whether the task's reference is a Python module, which runs in a process of its own.
constexpr bool has_module_reference(Mode mode) { return is_module(mode_of_reference(mode)); }
/// Whether several submissions may be judged at a time; on a device, its lanes do that. Native code is judged
/// one at a time, and so are modules whose own host code uses a device (docs/adr/0043).
constexpr bool uses_lanes(Mode mode) {
  return mode == Mode::kRecordedModule || mode == Mode::kModuleOnCpu;
}
/// Whether submissions are timed, against a baseline that is installed.
constexpr bool is_timed(Mode mode) { return mode != Mode::kModuleOnCpu; }

}  // namespace hone
