// The setup of a candidate: what it says, and how it is sent.
#pragma once

#include <array>

#include "base/result.hpp"
#include "channel/control.hpp"
#include "judge/plans.hpp"
#include "model/task.hpp"

namespace hone {

/// What a task and its plans say of it; the arena is the runner's to fill in.
Setup make_setup(const Task& task, const Plans& plans);
/// `fds`: orders, answers, arena, artifact.
Status send_setup(int socket, const Setup& setup, const std::array<int, 4>& fds);

}  // namespace hone
