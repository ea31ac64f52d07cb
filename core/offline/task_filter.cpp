// Compares splits, datasets and tags.
#include "offline/task_filter.hpp"

#include <algorithm>

#include "base/nearest.hpp"
#include "integrations/kernelbench/levels.hpp"

namespace hone {

Status check_dataset(const std::string& dataset, const Config& config, const Registry& registry) {
  if (dataset.empty()) return {};
  std::vector<std::string> names;
  for (const DatasetConfig& one : config.datasets) {
    if (one.name == dataset) return {};
    names.push_back(one.name);
  }
  std::string message = unknown_name("dataset", dataset, names);
  for (const PluginInfo& info : registry.plugins()) {
    if (info.kind != PluginKind::kDataset || info.name != dataset) continue;
    message = "the dataset '" + dataset +
              "' is not configured; add it with the path of its data: --set " +
              "'datasets=[{name: " + dataset + ", plugin: " + dataset +
              ", config: {path: FOLDER}}]', or the same in a file for -c";
  }
  return not_found(message);
}

Result<std::vector<const TaskSummary*>> filtered(const Catalog& catalog, const TaskFilter& filter) {
  HONE_ASSIGN(auto tasks, catalog.list(filter.split));
  const std::string tag = filter.level == 0 ? "" : "level" + std::to_string(filter.level);
  const std::string levels = levels_text(tasks, filter.dataset);
  std::erase_if(tasks, [&](const TaskSummary* task) {
    const std::vector<std::string>& tags = task->entry.tags;
    const bool of_level = tag.empty() || std::find(tags.begin(), tags.end(), tag) != tags.end();
    return !of_level || (!filter.dataset.empty() && task->dataset != filter.dataset);
  });
  if (tasks.empty() && filter.level != 0)
    return not_found("found no task that is tagged " + tag + "; levels found: " + levels);
  return tasks;
}

}  // namespace hone
