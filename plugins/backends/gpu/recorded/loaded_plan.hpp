// A recorded plan on a device: its images, kernels, memory, streams and events.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "device.hpp"
#include "hone/recorded_plan.hpp"

namespace hone_gpu {

struct PlanKernel {
  gpuFunction function = nullptr;
  std::string label;                 ///< for messages
  std::uint32_t shared_allowed = 0;  ///< bytes of dynamic shared memory that were granted
  std::uint64_t parameter_bytes =
      0;  ///< that the kernel takes; 0 if the driver does not report them
};

/// Owns its resources on the device. Only one thread may use it at a time.
struct LoadedPlan {
  /// Reads and loads a file, runs its setup and waits for it. Throws a Failure if the plan is not
  /// valid or the device lacks something for it.
  static std::unique_ptr<LoadedPlan> load(hone_device& device, std::string_view file);
  explicit LoadedPlan(hone_device& of) : device(of) {}
  ~LoadedPlan();
  LoadedPlan(const LoadedPlan&) = delete;
  LoadedPlan& operator=(const LoadedPlan&) = delete;

  hone_device& device;
  hone::recorded::Plan plan;  ///< without the bytes of its images
  std::vector<std::uint32_t>
      chosen;  ///< of each autotuned kernel: the configuration that calls run
  std::vector<gpuModule> modules;
  std::vector<PlanKernel> kernels;
  std::uint64_t private_address = 0;
  std::vector<std::uint64_t> addresses;  ///< of each memory; 0 for the task's tensors
  std::vector<gpuStream> streams;        ///< [0] is the device's
  std::vector<gpuEvent> events;
  gpuEvent fork = nullptr;
  std::vector<gpuEvent> joins;  ///< of each stream except [0]
  std::uint64_t number = 0;     ///< names the plan to the interpreter, from 1; 0: no operators
};

}  // namespace hone_gpu
