// An Environment whose members call a plugin host.
#pragma once

#include <memory>
#include <string>

#include "common/turns.hpp"
#include "episode/environment.hpp"
#include "plugin/plugin_process.hpp"

namespace hone {

struct PluginEnvironmentOptions {
  TurnRules rules{};                      ///< defaults of a reset's options
  std::size_t source_bytes_max = 262144;  ///< largest source that prepare() may return
};

/// `about`: the plugin's description: its actions, the tags of its tasks, and its own `about`. As in every
/// environment, hone adds turns and history, and decides when an episode ends. If observe() fails, the
/// feedback contains the error, so that a judged turn keeps its reward.
Result<std::unique_ptr<Environment>> make_plugin_environment(
    std::string name, const Value& about, std::unique_ptr<const EnvironmentCalls> calls,
    PluginEnvironmentOptions options = {});

}  // namespace hone
