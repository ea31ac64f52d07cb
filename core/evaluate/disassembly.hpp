// The machine code of a recorded plan's kernels, from nvdisasm in a builder's sandbox.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "evaluate/options.hpp"
#include "examine/machine_code.hpp"
#include "hone/recorded_plan.hpp"
#include "sandbox/launcher.hpp"

namespace hone {

/// A kernel of a plan. All members come from the submission's process.
struct KernelCode {
  std::string name;     ///< as in the plan
  std::string problem;  ///< why it has no code; empty: it has code
  /// As the image states them; 0 if it is no cubin. `shared_bytes`: static. `local_bytes`: stack frame of each
  /// thread.
  std::int64_t registers = 0, shared_bytes = 0, local_bytes = 0;
  std::vector<std::uint32_t> steps;  ///< of the plan's run, that launch it
  MachineCode code;
};

/// The kernels that the plan launches and that are not torch's, each once, in the order of their first launch.
/// Starts an interpreter, which needs no torch. An Error: no kernel could be disassembled; failed_precondition: there
/// is no nvdisasm.
Result<std::vector<KernelCode>> disassemble(Launcher& launcher, const EvaluatorOptions& options,
                                            const recorded::Plan& plan);

/// One listing of an answer of disassemble_images.py.
struct Listing {
  std::string problem;
  std::string_view text;
};
/// Reads an answer with this many listings, which are views of `answer`.
Result<std::vector<Listing>> read_listings(std::string_view answer, std::size_t count);

}  // namespace hone
