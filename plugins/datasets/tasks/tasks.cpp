// The dataset `tasks`: a folder with a folder per task, and an optional dataset.yaml for their
// order and splits.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/plugin.hpp"
#include "task_file.hpp"

namespace {

namespace fs = std::filesystem;
using hone::plugin::Config;
using hone::plugin::DatasetDescription;
using hone::plugin::Document;
using hone::plugin::Host;
using hone::plugin::Reader;
using hone::plugin::TaskSummary;
using hone::plugin::Value;

/// Reads and checks every task when it is opened, and holds them; constant afterwards. [any]
class Tasks {
 public:
  static DatasetDescription describe() {
    return {.summary =
                "a folder of tasks in yaml, with their reference, baseline and golden submissions",
            .parameters = {hone::plugin::text_parameter(
                "path", Value(), "the folder; each of its folders is a task (docs/tasks.md)")}};
  }

  Tasks(const Config& config, const Host& host) : path_(config.text("path")) {
    for (const fs::path& folder : task_folders()) {
      Value task = hone::tasks::read_task(host, folder);
      if (find(task.at("id").as_string()) != nullptr) {
        hone::plugin::invalid_argument((folder / "task.yaml").string() + ": id: '" +
                                       task.at("id").as_string() + "' is another task's already");
      }
      tasks_.push_back(std::move(task));
      host.give_up_if_cancelled();
    }
    if (tasks_.empty()) {
      hone::plugin::invalid_argument(path_.string() + ": expected a folder per task, found none");
    }
    if (fs::exists(path_ / "dataset.yaml")) apply_dataset_file(host);
  }

  std::vector<TaskSummary> list() const {
    std::vector<TaskSummary> result;
    for (const Value& task : tasks_) {
      TaskSummary summary{task.at("id").as_string(),
                          task.at("title").as_string(),
                          task.at("split").as_string(),
                          {},
                          {}};
      if (const Value* tags = task.find("tags")) {
        for (const Value& tag : tags->as_array()) summary.tags.push_back(tag.as_string());
      }
      for (const auto& [name, ignored] : task.at("backends").as_map()) {
        summary.backends.push_back(name);
      }
      result.push_back(std::move(summary));
    }
    return result;
  }

  std::optional<Value> get(std::string_view id) const {
    const Value* task = find(id);
    return task == nullptr ? std::nullopt : std::optional<Value>(*task);
  }

 private:
  /// The folders below the path but for hidden ones, by name.
  std::vector<fs::path> task_folders() const {
    std::error_code error;
    fs::directory_iterator entries(path_, error);
    if (error) {
      hone::plugin::invalid_argument(path_.string() + ": expected a folder of tasks, found none (" +
                                     error.message() + ")");
    }
    std::vector<fs::path> folders;
    for (const fs::directory_entry& entry : entries) {
      if (entry.is_directory() && entry.path().filename().string()[0] != '.') {
        folders.push_back(entry.path());
      }
    }
    std::sort(folders.begin(), folders.end());
    return folders;
  }

  const Value* find(std::string_view id) const {
    for (const Value& task : tasks_) {
      if (task.at("id").as_string() == id) return &task;
    }
    return nullptr;
  }

  /// The task that `r`'s member `key` names.
  Value& named(const Reader& r, std::string_view key, const std::string& id) {
    for (Value& task : tasks_) {
      if (task.at("id").as_string() == id) return task;
    }
    std::vector<std::string> ids;
    for (const Value& task : tasks_) ids.push_back(task.at("id").as_string());
    r.mistake(key, hone::plugin::unknown_name("task", id, ids));
  }

  /// `splits` moves tasks to a split; `order` puts the tasks it names first.
  void apply_dataset_file(const Host& host) {
    const std::string file = (path_ / "dataset.yaml").string();
    const Document document = host.parse_yaml(hone::tasks::read_text(file, file), file);
    Reader r(document);
    if (r.value_or_null("splits") != nullptr) {
      Reader splits = r.inside("splits");
      for (const auto& [split, ignored] : r.map("splits")) {
        if (!hone::tasks::is_id(split)) splits.mistake(split, "expected a name such as held_out");
        for (const std::string& id : splits.texts_or(split, {})) {
          named(splits, split, id).set("split", split);
        }
      }
    }
    std::size_t next = 0;
    for (const std::string& id : r.texts_or("order", {})) {
      const std::ptrdiff_t at = &named(r, "order", id) - tasks_.data();
      if (at < static_cast<std::ptrdiff_t>(next)) r.mistake("order", "'" + id + "' stands twice");
      const auto from = tasks_.begin() + at;
      std::rotate(tasks_.begin() + static_cast<std::ptrdiff_t>(next++), from, from + 1);
    }
    r.finish();
  }

  const fs::path path_;
  std::vector<Value> tasks_;
};

}  // namespace

HONE_EXPORT_DATASET(Tasks, "tasks", "1.0.0");
