// PromptParts: what restores the prompts of recorded episodes.
#pragma once

#include <memory>

#include "config/config.hpp"
#include "episode/catalog.hpp"
#include "episode/environment.hpp"
#include "plugin/registry.hpp"

namespace hone {

/// Plugins, tasks and environments of a configuration.
struct PromptParts {
  std::unique_ptr<const Registry> registry;
  std::shared_ptr<const Catalog> catalog;
  Environments environments;

  static Result<PromptParts> open(const Config& config);
};

}  // namespace hone
