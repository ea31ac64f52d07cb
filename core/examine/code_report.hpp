// CodeReport: what a compiler's report says about a submission's code.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "examine/assembly.hpp"
#include "examine/remarks.hpp"

namespace hone {

struct CodeReport {
  /// Limits of the lists.
  static constexpr std::size_t kBlocksMax = 32, kLoopsMax = 32, kKernelsMax = 16;

  std::vector<CodeBlock> blocks = {};
  std::vector<LaneAccess> accesses = {};
  std::vector<LoopRemark> loops = {};
  std::vector<KernelResources> kernels = {};
  std::vector<std::string> left_out = {};  ///< what exceeded a limit, for people
};

/// Reads the texts of a backend's report "code" (backend.h), which are untrusted. Time and memory are bounded.
CodeReport read_code_report(std::string_view assembly, std::string_view remarks,
                            std::string_view source_name);

}  // namespace hone
