// What a configuration names, opened and checked before anything is started for it.
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

/// Loads the plugins, reads the tasks and opens the reward. What is configured and of no use is
/// warned of. An error is invalid_argument and says where the mistake stands:
/// "hone.yaml:12: reward: unknown reward 'kevni'; did you mean 'kevin'?"
Result<ConfigParts> open_parts(const LoadedConfig& loaded);

/// Reads the tasks; an error says where the dataset that it is about was configured.
Result<std::shared_ptr<const Catalog>> open_catalog(const LoadedConfig& loaded,
                                                    const Registry& registry);

/// Whether the endpoints can be served on; not whether they are free.
Status check_endpoints(const LoadedConfig& loaded);

/// Makes room for as many jailed processes as builders and devices have. Slots that somebody asked
/// for and that are too few are an error.
Status fit_slots(LoadedConfig& loaded);

/// An unknown task's error without the verb of the protocol that it names.
Error without_verbs(Error error);

/// What to do about an error of a start; "" where the error says it.
std::string next_step(const Error& error);

}  // namespace hone
