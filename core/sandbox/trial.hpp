// Trials: runs a function in a short-lived child, so that its effects end with the child.
#pragma once

#include <functional>

#include "base/result.hpp"

namespace hone {

/// Runs `body` in a child and returns its Status. A child that dies or takes longer than two seconds is an
/// error.
Status try_in_child(const std::function<Status()>& body);

}  // namespace hone
