// autotune: an environment in which a policy chooses the block sizes of a matrix product, and hone measures
// the result.
#pragma once

#include <cstddef>
#include <memory>

#include "common/turns.hpp"
#include "episode/environment.hpp"

namespace hone {

struct AutotuneOptions {
  TurnRules rules{};                       ///< defaults of a reset's options
  std::size_t response_bytes_max = 65536;  ///< limit of a text action
};

/// Uses the tasks tagged "autotune". hone generates a source from each choice, and judges and times it like
/// any submission, against the task's baseline.
std::unique_ptr<Environment> make_autotune(AutotuneOptions options = {});

}  // namespace hone
