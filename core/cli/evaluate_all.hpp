// Many submissions at once, for commands that judge files.
#pragma once

#include <functional>
#include <vector>

#include "cli/progress.hpp"
#include "evaluate/evaluator.hpp"

namespace hone {

/// Told of the i-th result once it is there, on the thread that waits.
using TakeResult = std::function<void(std::size_t i, const Result<Verdict>& result)>;

/// Submits all, a queue's length at a time, and waits for all; `progress` counts them and shows how
/// far it is. The results stand in the order of the submissions.
std::vector<Result<Verdict>> evaluate_all(Progress& progress, Evaluator& evaluator,
                                          const std::vector<Submission>& submissions,
                                          const TakeResult& take = {});

}  // namespace hone
