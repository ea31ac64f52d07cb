// Opens the parts in the order in which they need each other.
#include "offline/prompt_parts.hpp"

#include "app/host.hpp"

namespace hone {

Result<PromptParts> PromptParts::open(const Config& config) {
  PromptParts parts;
  parts.registry = open_registry(config);
  HONE_ASSIGN(parts.catalog, open_catalog(config, *parts.registry));
  HONE_ASSIGN(parts.environments, open_environments(config, *parts.registry));
  return parts;
}

}  // namespace hone
