// Many submissions at once, for commands that judge files.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "cli/terminal.hpp"
#include "evaluate/evaluator.hpp"

namespace hone {

/// Told of the i-th result once it is there, on the thread that waits.
using TakeResult = std::function<void(std::size_t i, const Result<Verdict>& result)>;

/// Submits all, a queue's length at a time, and waits for all, saying how far it is. The results
/// stand in the order of the submissions.
std::vector<Result<Verdict>> evaluate_all(Terminal& terminal, Evaluator& evaluator,
                                          const std::vector<Submission>& submissions,
                                          std::string_view what, const TakeResult& take = {});

}  // namespace hone
