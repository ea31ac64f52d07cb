// Opens and checks the plugins, tasks and endpoints of a configuration before anything starts.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "config/config.hpp"
#include "episode/catalog.hpp"
#include "plugin/registry.hpp"

namespace hone {

struct ConfigParts {
  std::unique_ptr<const Registry> registry;
  std::shared_ptr<const Catalog> catalog;
};

/// Loads the plugins, reads the tasks and opens the reward. Settings without effect cause a warning. An error is invalid_argument with the place of the mistake:
/// "hone.yaml:12: reward: unknown reward 'kevni'; did you mean 'kevin'?"
Result<ConfigParts> open_parts(const LoadedConfig& loaded);

/// Reads the tasks. An error has the place of the dataset in the configuration.
Result<std::shared_ptr<const Catalog>> open_catalog(const LoadedConfig& loaded,
                                                    const Registry& registry);

/// Checks that the endpoints are valid; they may be in use.
Status check_endpoints(const LoadedConfig& loaded);

/// Raises isolation.slots to the number of sandboxed processes that builders and devices need. A configured value that is too small is an error.
Status fit_slots(LoadedConfig& loaded);

/// The error of an unknown task without the hint to a protocol verb.
Error without_verbs(Error error);

/// Advice for an error of the start; "" if the error contains it.
std::string next_step(const Error& error);

}  // namespace hone
