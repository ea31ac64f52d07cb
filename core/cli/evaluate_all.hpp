// Many submissions at once, for commands that judge files.
#pragma once

#include <string_view>
#include <vector>

#include "cli/terminal.hpp"
#include "evaluate/evaluator.hpp"

namespace hone {

/// Submits all, a queue's length at a time, and waits for all, saying how far it is. The results
/// stand in the order of the submissions.
std::vector<Result<Verdict>> evaluate_all(Terminal& terminal, Evaluator& evaluator,
                                          const std::vector<Submission>& submissions,
                                          std::string_view what);

}  // namespace hone
