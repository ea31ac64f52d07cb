// Evaluator options for the emulated driver, and a small task.
#pragma once

#include <stdexcept>
#include <string>

#include "evaluate/shared_machine.hpp"
#include "gpu/small_task.hpp"
#include "plugin/backend.hpp"

namespace hone::test {

/// Takes the description of options.backend_library.
inline void use_plugins_description(EvaluatorOptions& options) {
  const auto backend = Backend::load(options.backend_library);
  const auto description = backend ? (*backend)->description() : backend.error();
  if (!description) throw std::runtime_error(description.error().message);
  use_description(*description, options);
}

inline EvaluatorOptions emulated_options(const std::string& backend) {
  EvaluatorOptions options = quick_options();
  options.backend = backend;
  options.toolchains.clear();
  options.toolchains[backend] = {};
  options.backend_library = build_dir() / "tests/gpu" / ("backend_" + backend + "_emulated.so");
  use_plugins_description(options);
  options.devices = {{0, 0, {0}}};
  options.context_bytes = 0;  // an emulated context takes no device memory
  options.measure.set_mb = 1;
  options.measure.round_ms = 0.5;
  return options;
}

}  // namespace hone::test
