// Evaluator options for the emulated driver, and a small task.
#pragma once

#include <string>

#include "evaluate/shared_machine.hpp"
#include "gpu/small_task.hpp"

namespace hone::test {

inline EvaluatorOptions emulated_options(const std::string& backend) {
  EvaluatorOptions options = quick_options();
  options.backend = backend;
  options.device_code = true;
  options.toolchains.clear();
  options.toolchains[backend] = {};
  options.backend_library = build_dir() / "tests/gpu" / ("backend_" + backend + "_emulated.so");
  options.devices = {{0, 0, {0}}};
  options.context_bytes = 0;  // an emulated context takes no device memory
  options.measure.set_mb = 1;
  options.measure.round_ms = 0.5;
  return options;
}

}  // namespace hone::test
