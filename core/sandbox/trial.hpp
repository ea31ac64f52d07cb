// Trials: something is tried in a short-lived child, so that what it does to itself ends with it.
#pragma once

#include <functional>

#include "base/result.hpp"

namespace hone {

/// Runs `body` in a child and returns its Status. A child that dies, or takes longer than two
/// seconds, is an error that says so.
Status try_in_child(const std::function<Status()>& body);

}  // namespace hone
