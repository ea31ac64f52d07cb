// Many submissions at once, for commands that judge files.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "evaluate/evaluator.hpp"
#include "terminal/progress.hpp"

namespace hone {

/// Returns the next submission; none at the end.
using NextSubmission = std::function<std::optional<Submission>()>;
/// Called with the result of the i-th submission.
using TakeResult = std::function<void(std::size_t i, const Result<Verdict>& result)>;

/// Asks for submissions while the evaluator's queue has room, and waits for all results; `progress`
/// counts and shows them. Both functions are called on this thread, so that a slow `next` delays no
/// evaluation that is queued.
void evaluate_each(Progress& progress, Evaluator& evaluator, const NextSubmission& next,
                   const TakeResult& take);

/// Evaluates all submissions; the results are in their order.
std::vector<Result<Verdict>> evaluate_all(Progress& progress, Evaluator& evaluator,
                                          const std::vector<Submission>& submissions);

}  // namespace hone
