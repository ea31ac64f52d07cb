// Recording: a module's device work as a plan, made in a jail without a device (core/record).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "evaluate/options.hpp"
#include "evaluate/pieces.hpp"
#include "evaluate/zygotes.hpp"
#include "hone/recorded_plan.hpp"
#include "model/work.hpp"

namespace hone {

inline constexpr std::size_t kPlanBytesMax = 96u << 20;  ///< of a recorded plan's file

/// A plan that was read and found well formed.
struct RecordedPlan {
  Pieces bytes;                 ///< a file as recorded_plan.hpp describes it
  bool has_operators = false;   ///< its process needs torch
  bool is_cooperative = false;  ///< it has cooperative launches
  Witnessed work;               ///< the kernels and operators of one call
  struct TunedKernel {
    std::string name, key;
    std::vector<std::string> configurations;  ///< their parameters
  };
  std::vector<TunedKernel> tuned;  ///< its autotuned kernels
};

/// Whether the image is part of torch. Other images are Triton's, or of extensions such as those of load_inline.
bool is_of_torch(const recorded::Image& image);

/// The result of a recording. It is untrusted: the plan is well formed, but its kernels may do anything on the device.
struct Recording {
  std::shared_ptr<const RecordedPlan> plan;  ///< null: there is none
  std::string
      problem;  ///< the reason, if there is none: "a value was read back (submission.py:31)"
};

/// Reads an answer of record_module.py: a line of JSON, and the plan. The plan shares its images with others in `images`.
Result<Recording> read_recording(std::string_view bytes, SharedPieces& images);

/// [any thread] `device`: as for a dry run. An Error proves nothing about the module; resource_exhausted: the process was
/// starved of processor time.
Result<Recording> record_module(Zygotes& zygotes, const EvaluatorOptions& options,
                                SharedPieces& images, const std::string& device,
                                const std::string& artifact);

}  // namespace hone
