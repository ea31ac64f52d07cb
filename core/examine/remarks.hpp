// What a compiler says about a submission's loops and kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/value.hpp"

namespace hone {

/// Why a loop is not vectorized: only the reasons that lead to different findings.
enum class LoopObstacle {
  kOther,
  kStride,      ///< it reads or writes memory with a stride
  kHasVectors,  ///< the source has written it with vectors already
};

struct LoopRemark {
  std::int64_t line = 0;
  bool is_vectorized = false;
  std::int64_t vector_bytes = 0;  ///< 0: unknown
  std::string reason;             ///< why it is not vectorized, in the compiler's words
  LoopObstacle obstacle = LoopObstacle::kOther;
};

/// Loops of `source_name`, by line, from messages of GCC (-fopt-info-vec) or clang (-Rpass=loop-vectorize). The outer
/// loops of a nest are left out. The text is untrusted.
std::vector<LoopRemark> loop_remarks(std::string_view remarks, std::string_view source_name,
                                     std::size_t count_max);

/// Resources of a kernel, as ptxas prints them.
struct KernelResources {
  std::string kernel;
  std::int64_t registers = 0, shared_bytes = 0, stack_bytes = 0;
  std::int64_t spill_stores_bytes = 0, spill_loads_bytes = 0;
};

std::vector<KernelResources> kernel_resources(std::string_view remarks, std::size_t count_max);

Value loop_remark_to_value(const LoopRemark& remark);
Value kernel_resources_to_value(const KernelResources& kernel);

}  // namespace hone
