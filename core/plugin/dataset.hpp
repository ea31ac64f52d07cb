// Dataset: the handle of a dataset plugin. It checks the plugin's tasks.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "hone/dataset.h"
#include "model/task.hpp"
#include "model/value.hpp"
#include "plugin/host_services.hpp"
#include "plugin/plugin_library.hpp"

namespace hone {

/// An entry of list().
struct TaskEntry {
  std::string id;
  std::string title;
  std::string split;
  std::vector<std::string> tags;
  std::vector<std::string> backends;
};

/// Carries out the calls of a dataset: in a library of this process, or in a plugin host. Answers are not
/// checked yet. [any thread, also several at once]
class DatasetCalls {
 public:
  virtual ~DatasetCalls() = default;
  /// Errors begin with the plugin and the call: "tasks: list: …".
  virtual Result<Value> list() const = 0;
  virtual Result<Value> get(const std::string& id) const = 0;
};

/// Owns an opened dataset of a plugin. [any thread, also several at once]
///
///   HONE_ASSIGN(auto tasks, Dataset::open(library, "basics", Value::map({{"path", "tasks"}}),
///   services)); HONE_ASSIGN(const Task task, tasks->get("add_relu"));   // task.dataset is
///   "basics"
class Dataset {
 public:
  /// {"summary", "parameters"} of the plugin.
  static Result<Value> describe(const PluginLibrary& library);

  /// `name` is the dataset's in the configuration. A mistake in a task is the plugin's
  /// invalid_argument "file:line: …".
  static Result<std::unique_ptr<Dataset>> open(const PluginLibrary& library, std::string name,
                                               const Value& config,
                                               std::shared_ptr<HostServices> services);
  /// A dataset of the plugin `plugin` that answers through `calls`.
  Dataset(std::string name, std::string plugin, std::unique_ptr<const DatasetCalls> calls)
      : name_(std::move(name)), plugin_(std::move(plugin)), calls_(std::move(calls)) {}

  const std::string& name() const { return name_; }

  /// In the dataset's order; ids are unique.
  Result<std::vector<TaskEntry>> list() const;
  /// not_found for an unknown id. A task that breaks the rules of docs/tasks.md is an internal
  /// error.
  Result<Task> get(std::string_view id) const;

 private:
  const std::string name_, plugin_;
  const std::unique_ptr<const DatasetCalls> calls_;
};

/// The table of a library, with every function in place.
Result<const hone_dataset_factory*> dataset_factory(const PluginLibrary& library);

/// Checks what list() wrote.
Result<std::vector<TaskEntry>> entries_from_value(const Value& written);

}  // namespace hone
