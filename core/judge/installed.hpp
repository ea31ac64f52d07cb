// The dataset's own code, installed in a judge: runners of reference and baseline, and what is known about them.
#pragma once

#include <optional>

#include "judge/reference_error.hpp"
#include "judge/runner.hpp"
#include "judge_protocol/findings.hpp"

namespace hone {

/// A runner of the dataset's own code, kept between submissions.
struct DatasetRunner : Calibration {  // a baseline's
  Runner* runner = nullptr;
  /// Reference: the difference of its own answers from the exact ones; none where the task has a tolerance of its own.
  std::optional<ReferenceError> error = std::nullopt;
};

}  // namespace hone
