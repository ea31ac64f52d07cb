// Opens the configured datasets, and describes one task of each.
#include <algorithm>
#include <map>

#include "app/host.hpp"
#include "base/clock.hpp"
#include "base/readable.hpp"
#include "doctor/findings.hpp"
#include "episode/catalog.hpp"
#include "terminal/terminal.hpp"

namespace hone {
namespace {

constexpr std::size_t kTries = 3;  // a few tasks of a dataset may be unsupported

DoctorFinding examine_tasks(const Catalog& catalog, const std::vector<const TaskSummary*>& tasks) {
  const std::string what = "dataset " + tasks.front()->dataset;
  const std::string count = counted_text(static_cast<std::int64_t>(tasks.size()), "task");
  std::string first_error;
  for (std::size_t i = 0; i < std::min(kTries, tasks.size()); ++i) {
    const double begun_s = monotonic_s();
    const auto task = catalog.find(tasks[i]->full_id(), true);
    if (task)
      return {what, DoctorFinding::kGood,
              count + "; one was described in " + short_number(monotonic_s() - begun_s, 2) + " s"};
    if (first_error.empty()) first_error = task.error().message;
  }
  return {what, DoctorFinding::kMissing,
          count + "; the first tasks are not supported: " + first_error};
}

}  // namespace

std::vector<DoctorFinding> examine_datasets(const Config& config) {
  const auto registry = open_registry(config);
  const auto catalog = open_catalog(config, *registry);
  if (!catalog) return {{"datasets", DoctorFinding::kMissing, catalog.error().message}};
  const auto tasks = (*catalog)->list("", true);
  if (!tasks) return {{"datasets", DoctorFinding::kMissing, tasks.error().message}};
  std::map<std::string, std::vector<const TaskSummary*>> listed;
  for (const TaskSummary* task : *tasks) listed[task->dataset].push_back(task);
  std::vector<DoctorFinding> findings;
  for (const auto& [dataset, its] : listed) findings.push_back(examine_tasks(**catalog, its));
  return findings;
}

}  // namespace hone
