// Options of `hone tasks` that choose tasks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "episode/catalog.hpp"
#include "plugin/registry.hpp"

namespace hone {

struct TaskFilter {
  std::string id;              ///< one task; empty: all that pass the other members
  std::string split, dataset;  ///< empty: any
  std::int64_t level = 0;      ///< of the tag levelN; 0: any
};

/// A dataset that is not configured is not_found. It may be a plugin that needs a path; then the error says so.
Status check_dataset(const std::string& dataset, const Config& config, const Registry& registry);

/// The tasks with this split, dataset and level. not_found: none has the level.
Result<std::vector<const TaskSummary*>> filtered(const Catalog& catalog, const TaskFilter& filter);

}  // namespace hone
