// Disassembles the kernels of a recorded plan with the interpreter of a configuration.
#pragma once

#include <vector>

#include "base/result.hpp"
#include "config/config.hpp"
#include "evaluate/disassembly.hpp"

namespace hone {

/// Starts a launcher of its own, so the process must have no threads. The interpreter is the backend's, otherwise
/// plugins.python. failed_precondition: there is no interpreter or no nvdisasm.
///
///   HONE_ASSIGN(const auto kernels, disassemble_plan(loaded.config, recorded::read_plan(bytes)));
Result<std::vector<KernelCode>> disassemble_plan(const Config& config, const recorded::Plan& plan);

}  // namespace hone
