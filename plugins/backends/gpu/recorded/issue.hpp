// Gives the steps of a recorded plan to the driver.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "recorded/loaded_plan.hpp"

namespace hone_gpu {

/// A plan's run for tensors of the task at given addresses: all that a call needs but the steps.
struct Binding {
  std::vector<std::uint64_t> addresses;  ///< of each memory
  std::vector<std::string> parameters;   ///< of each step that is a launch, with its addresses
  /// Device memory with the bytes of all steps that write, and where those of each step lie.
  std::uint64_t staging = 0;
  std::vector<std::uint64_t> staged;
};

/// `addresses`: of the task's tensors, in the place of their memories. Rationale: bytes that the run
/// writes are copied from device memory, so that a graph waits for no memory of the host.
Binding bind(LoadedPlan& loaded, std::vector<std::uint64_t> addresses);
void unbind(LoadedPlan& loaded, Binding& binding);

/// Runs the setup on the device's stream, and waits for it.
void issue_setup(LoadedPlan& loaded);
/// Starts the run: on the plan's streams, between what the device's stream has and gets. May be
/// captured.
void issue_run(LoadedPlan& loaded, Binding& binding);

}  // namespace hone_gpu
