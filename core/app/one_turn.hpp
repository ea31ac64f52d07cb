// Turns an action into a submission as a step does, for commands that judge files.
#pragma once

#include <memory>
#include <string>
#include <variant>

#include "base/result.hpp"
#include "episode/environment.hpp"
#include "evaluate/evaluator.hpp"
#include "model/task.hpp"

namespace hone {

/// An environment's settings for an episode of one turn.
std::shared_ptr<const Settings> one_turn(const Environment& environment, const Task& task,
                                         const std::string& backend);

/// A submission of the task, to which the caller adds client and episode; or a verdict that needs no evaluation.
using PreparedTurn = std::variant<Submission, Verdict>;

/// Interprets an action as the first step of an episode of one turn does.
Result<PreparedTurn> prepare_turn(const Environment& environment,
                                  const std::shared_ptr<const Task>& task,
                                  const std::string& backend, const Value& action);

}  // namespace hone
