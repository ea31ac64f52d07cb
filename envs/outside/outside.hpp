// An environment of one's own, which a plugin host runs.
#pragma once

#include <memory>
#include <string>

#include "common/turns.hpp"
#include "episode/environment.hpp"
#include "plugin/outside.hpp"

namespace hone {

struct OutsideOptions {
  TurnRules rules{};                      ///< defaults of a reset's options
  std::size_t source_bytes_max = 262144;  ///< of what prepare() makes
};

/// `about` is the plugin's description: its actions, the tags of its tasks, and what it says besides.
/// Turns, history and when an episode ends are hone's own, as in every environment. A failure of
/// observe() is said in the feedback, so that a turn which has been judged has its reward.
Result<std::unique_ptr<Environment>> make_outside_environment(
    std::string name, const Value& about, std::unique_ptr<const EnvironmentCalls> calls,
    OutsideOptions options = {});

}  // namespace hone
