// autotune: the environment in which a policy chooses how a matrix product is blocked, and hone measures it.
#pragma once

#include <cstddef>
#include <memory>

#include "common/turns.hpp"
#include "episode/environment.hpp"

namespace hone {

struct AutotuneOptions {
  TurnRules rules{};                       ///< defaults of a reset's options
  std::size_t response_bytes_max = 65536;  ///< of an action that is text
};

/// Tasks are those tagged "autotune". A choice becomes a source of ours, and that is judged and timed
/// as any submission is, against the task's own baseline.
std::unique_ptr<Environment> make_autotune(AutotuneOptions options = {});

}  // namespace hone
