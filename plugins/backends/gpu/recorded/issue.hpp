// Issues the steps of a recorded plan to the driver.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "recorded/loaded_plan.hpp"

namespace hone_gpu {

/// The data that a call needs besides the steps, for given addresses of the task's tensors.
struct Binding {
  std::vector<std::uint64_t> addresses;  ///< of each memory
  std::vector<std::string> parameters;   ///< of each launch step, with addresses filled in
  /// Device memory with the bytes of all write steps, and the address of each step's bytes.
  std::uint64_t staging = 0;
  std::vector<std::uint64_t> staged;
};

/// `addresses`: of each memory of the plan, the task's tensors included. Rationale: write steps copy
/// from device memory, so that a graph does not depend on host memory.
Binding bind(LoadedPlan& loaded, std::vector<std::uint64_t> addresses);
void unbind(LoadedPlan& loaded, Binding& binding);

/// Runs the setup on the device's stream, and waits for it.
void issue_setup(LoadedPlan& loaded);
/// Starts the run with the chosen configurations on the plan's streams: after all earlier and before all later work of
/// the device's stream. May be captured.
void issue_run(LoadedPlan& loaded, Binding& binding);

}  // namespace hone_gpu
