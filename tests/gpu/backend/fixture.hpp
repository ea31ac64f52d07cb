// Shared by the tests of the gpu plugins: the plugins on the emulated driver.
#pragma once

#include <string>
#include <vector>

#include "backends/tested.hpp"

namespace hone::test {

/// Those of the backends under test that are made of this source.
inline std::vector<Tested> vendors() {
  std::vector<Tested> found;
  for (const Tested& one : tested()) {
    if (one.name == "cuda" || one.name == "hip") found.push_back(one);
  }
  return found;
}
inline bool cuda() { return current()->name == "cuda"; }
/// The runtime compiler, as messages name it.
inline std::string compiler_name() { return cuda() ? "NVRTC" : "hiprtc"; }
/// Whether builds use it, and no other compiler that the environment names.
inline bool builds_at_run_time() {
  const Value* named = dialect_of(*current()).options.find("compiler");
  return named->as_string().empty();
}

}  // namespace hone::test
