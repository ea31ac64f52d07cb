// What a candidate holds, and what it does when told to run a round.
#pragma once

#include <string>
#include <vector>

#include "channel/control.hpp"
#include "plugin/backend.hpp"

namespace hone {

constexpr std::uint64_t kSpareBytes = 8192;

/// Everything a round needs; lives as long as the process.
struct Candidate {
  Setup setup{};
  const hone_backend_factory* backend = nullptr;
  const hone_python* python = nullptr;  ///< the interpreter of modules; else null
  hone_device* device = nullptr;
  hone_buffer* arena = nullptr;
  bool device_code = false;      ///< the arena is the device's
  bool sealed = false;           ///< before the device was opened; for modules on a device
  hone_buffer* spare = nullptr;  ///< device code: memory of its own, for work that does nothing
  hone_artifact* artifact = nullptr;
  hone_kernel* kernels[kKernelsMax] = {};
  const Orders* orders = nullptr;
  Answers* answers = nullptr;
  std::vector<std::string> readable;  ///< folders of an interpreter
  Guard guards[kGuardsMax] = {};      ///< inaccessible now
  std::uint32_t guard_count = 0;
  std::string note;              ///< the interpreter's message about the loaded module, if any
  bool has_told_choice = false;  ///< tell_choice() has asked the backend

  /// hone_python_flags of the interpreter's last call.
  std::uint32_t flags() const { return python == nullptr ? 0 : python->flags(); }
  /// Whether the loaded code runs only on the device. If so, this process runs only trusted code.
  bool runs_device_code() const { return device_code && !sealed; }
};

inline hone_error fresh_error() {
  hone_error error{};
  error.struct_size = sizeof error;
  return error;
}

/// Does what the judge's orders say. C++ exceptions of a submission end its round, not silently the
/// process: the author gets to read what it was.
Answer obey_guarded(Candidate& self);

}  // namespace hone
