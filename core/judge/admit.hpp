// Admission of a task: answers that take no work must all be wrong, and the tolerance must fit the
// reference's own error.
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "judge/session.hpp"
#include "judge/workbench.hpp"
#include "model/task.hpp"
#include "model/value.hpp"

namespace hone {

/// Tries zeros, ones, the mean of the right answer, yesterday's answer (other inputs of the same
/// shape), copies of an input, and the right answer rounded to bfloat16, on every trial. Returns
/// {"trials": int, "lazy": [{"answer": str, "passes": bool}], "reference_error": float (the plain
/// form's largest error as a share of the tolerance; at most 1 is needed, 0.5 is wise), "admitted":
/// bool, "reasons": [str] (why not)}. A reference that does not end well is such a reason; an error
/// is a fault of ours.
Result<Value> admit_task(const Task& task, std::uint64_t seed, const DatasetRunner& reference,
                         Workbench& workbench);

}  // namespace hone
