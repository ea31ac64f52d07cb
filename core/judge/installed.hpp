// The dataset's own code, installed in a judge: runners of reference and baseline, and what is known about them.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "judge/reference_error.hpp"
#include "judge/runner.hpp"
#include "judge_protocol/findings.hpp"

namespace hone {

/// Rounds of a baseline that was timed without a submission, in seconds. Modules on a device only.
struct BaselineBlock {
  double at_s = 0;        ///< when the last round was over
  std::size_t calls = 0;  ///< of a round; 0: no block
  std::vector<double> rounds, floors;
};

/// A runner of the dataset's own code, kept between submissions.
struct DatasetRunner : Calibration {  // a baseline's
  Runner* runner = nullptr;
  UncontendedTime uncontended = {};               ///< baseline: from earlier submissions
  std::shared_ptr<BaselineBlock> last = nullptr;  ///< baseline: for the next submission of its task
  /// Reference: the difference of its own answers from the exact ones; none where the task has a tolerance of its own.
  std::optional<ReferenceError> error = std::nullopt;
};

}  // namespace hone
