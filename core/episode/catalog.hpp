// Catalog: the tasks of all configured datasets with their ids, and the rule for held-out splits.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "base/result.hpp"
#include "model/task.hpp"
#include "plugin/dataset.hpp"

namespace hone {

inline constexpr std::string_view kHeldOutSplit = "held_out";

struct TaskSummary {
  std::string dataset;
  TaskEntry entry;

  std::string full_id() const { return dataset + "/" + entry.id; }
};

/// A source of tasks: a dataset behind two functions, so that tests need no plugin.
struct TaskSource {
  std::string name;  ///< the dataset's name in the configuration
  std::function<Result<std::vector<TaskEntry>>()> list;
  std::function<Result<Task>(const std::string& id)> get;
  /// Whether a client may ask for a task that list() does not return. Then get() decides whether it exists.
  bool unlisted = false;
};
TaskSource task_source(std::shared_ptr<const Dataset> dataset, bool unlisted = false);

/// [any thread] Lists at the start, loads tasks when they are first asked for, and keeps them:
/// episodes share them. Of tasks that no list names the latest kUnlistedKept are kept.
///
///   HONE_ASSIGN(auto catalog, Catalog::open({source}, {.open_held_out = false}));
///   HONE_ASSIGN(auto task, catalog->find("tasks/add_relu"));
class Catalog {
 public:
  static constexpr std::size_t kUnlistedKept = 256;

  struct Options {
    bool open_held_out = false;  ///< serve the split held_out to all clients
  };

  /// Lists every source. Two datasets with one name, or two tasks of a dataset with one id, are
  /// invalid_argument.
  static Result<std::shared_ptr<const Catalog>> open(std::vector<TaskSource> sources,
                                                     Options options);

  /// By "dataset/id", or by "id" if only one dataset has it. A task of a held-out split is not_found, with
  /// the same message as a task that does not exist. `held_out`, here and below: the caller may use tasks of
  /// that split.
  Result<std::shared_ptr<const Task>> find(std::string_view id, bool held_out = false) const;

  /// find(), then task_for_backend(). invalid_argument if the task has no sources for the backend.
  Result<std::shared_ptr<const Task>> find_for(std::string_view backend, std::string_view id,
                                               bool held_out = false) const;

  /// Draws the id of a task of the split for the backend, among tasks that `takes` accepts (empty: all). The
  /// same tasks and seed give the same id.
  Result<std::string> draw(std::uint64_t seed, std::string_view split, std::string_view backend,
                           bool held_out = false,
                           const std::function<bool(const TaskEntry&)>& takes = {}) const;

  /// The list entry of a task that find() finds. For an unlisted task, the entry that a list would have.
  Result<TaskEntry> entry(std::string_view id, bool held_out = false) const;

  /// The served tasks, in order; an empty split means all. An unknown split is not_found with the nearest
  /// name.
  Result<std::vector<const TaskSummary*>> list(std::string_view split, bool held_out = false) const;

 private:
  /// A task that list() does not return.
  struct Unlisted {
    std::shared_ptr<const Task> task;
    std::map<std::string, std::shared_ptr<const Task>, std::less<>> by_backend;
  };

  Catalog(std::vector<TaskSource> sources, Options options);
  Status add(std::size_t source);
  bool served(std::string_view split, bool held_out) const;
  Result<const TaskSummary*> summary(std::string_view id, bool held_out) const;
  /// nullptr: the id does not belong to a dataset with unlisted tasks, or the dataset has no such task for
  /// this caller.
  Result<std::shared_ptr<const Task>> find_unlisted(std::string_view id, bool held_out) const;

  std::vector<TaskSource> sources_;
  Options options_;
  std::vector<TaskSummary> tasks_;  // in the sources' order; fixed after open()
  std::map<std::string, std::size_t, std::less<>> by_full_id_;
  std::multimap<std::string, std::size_t, std::less<>> by_bare_id_;
  mutable Mutex mutex_;
  mutable std::map<std::string, std::shared_ptr<const Task>, std::less<>> loaded_
      HONE_GUARDED_BY(mutex_);
  /// By backend and full id.
  mutable std::map<std::pair<std::string, std::string>, std::shared_ptr<const Task>> seen_
      HONE_GUARDED_BY(mutex_);
  mutable std::map<std::string, Unlisted, std::less<>> unlisted_ HONE_GUARDED_BY(mutex_);
  mutable std::deque<std::string> unlisted_order_ HONE_GUARDED_BY(mutex_);  // the oldest first
};

}  // namespace hone
