// The setup of a candidate, and its message.
#pragma once

#include <array>

#include "base/result.hpp"
#include "channel/control.hpp"
#include "judge/plans.hpp"
#include "model/task.hpp"

namespace hone {

/// The setup for a task and its plans, without the arena, which the runner fills in.
Setup make_setup(const Task& task, const Plans& plans);
/// `fds`: orders, answers, arena, artifact.
Status send_setup(int socket, const Setup& setup, const std::array<int, 4>& fds);

}  // namespace hone
