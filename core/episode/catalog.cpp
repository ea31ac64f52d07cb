// The ids of tasks, splits, random draws and the cache of loaded tasks.
#include "episode/catalog.hpp"

#include <algorithm>
#include <set>

#include "base/nearest.hpp"

namespace hone {
namespace {

constexpr std::size_t kNamesShown = 12;

/// SplitMix64. Rationale: consecutive seeds must not draw consecutive tasks.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

TaskSource task_source(std::shared_ptr<const Dataset> dataset, bool unlisted) {
  return {dataset->name(), [dataset] { return dataset->list(); },
          [dataset](const std::string& id) { return dataset->get(id); }, unlisted};
}

Catalog::Catalog(std::vector<TaskSource> sources, Options options)
    : sources_(std::move(sources)), options_(options) {}

Result<std::shared_ptr<const Catalog>> Catalog::open(std::vector<TaskSource> sources,
                                                     Options options) {
  std::shared_ptr<Catalog> catalog(new Catalog(std::move(sources), options));
  std::set<std::string> names;
  for (std::size_t i = 0; i < catalog->sources_.size(); ++i) {
    const std::string& name = catalog->sources_[i].name;
    if (!names.insert(name).second) {
      return invalid_argument("two datasets have the name '" + name + "'");
    }
    if (Status added = catalog->add(i); !added) return added.error();
  }
  return std::shared_ptr<const Catalog>(std::move(catalog));
}

Status Catalog::add(std::size_t source) {
  const std::string& name = sources_[source].name;
  Result<std::vector<TaskEntry>> listed = sources_[source].list();
  if (!listed) return listed.error().in("dataset " + name);
  for (TaskEntry& entry : *listed) {
    TaskSummary task{name, std::move(entry)};
    const std::size_t at = tasks_.size();
    if (!by_full_id_.emplace(task.full_id(), at).second) {
      return invalid_argument("dataset " + name + ": list: found the task '" + task.entry.id +
                              "' twice");
    }
    by_bare_id_.emplace(task.entry.id, at);
    tasks_.push_back(std::move(task));
  }
  return {};
}

bool Catalog::served(std::string_view split, bool held_out) const {
  return held_out || options_.open_held_out || split != kHeldOutSplit;
}

Result<const TaskSummary*> Catalog::summary(std::string_view id, bool held_out) const {
  if (const auto full = by_full_id_.find(id); full != by_full_id_.end()) {
    if (served(tasks_[full->second].entry.split, held_out)) return &tasks_[full->second];
  }
  std::vector<const TaskSummary*> same;
  for (auto [it, end] = by_bare_id_.equal_range(id); it != end; ++it) {
    if (served(tasks_[it->second].entry.split, held_out)) same.push_back(&tasks_[it->second]);
  }
  if (same.size() == 1) return same.front();
  if (same.size() > 1) {
    return invalid_argument("the task id '" + std::string(id) + "' is in several datasets: '" +
                            same[0]->full_id() + "', '" + same[1]->full_id() + "'");
  }
  std::vector<std::string> names;
  for (const TaskSummary& task : tasks_) {
    if (!served(task.entry.split, held_out)) continue;
    names.push_back(task.full_id());
    names.push_back(task.entry.id);
  }
  const std::string near = nearest(id, names);
  return not_found("no task is called '" + std::string(id.substr(0, 128)) + "'" +
                   (near.empty() ? "; describe lists them" : "; did you mean '" + near + "'?"));
}

Result<std::shared_ptr<const Task>> Catalog::find_unlisted(std::string_view id,
                                                           bool held_out) const {
  const std::size_t slash = id.find('/');
  const bool listed = by_full_id_.contains(id) || by_bare_id_.contains(id);
  if (listed || slash == std::string_view::npos) return std::shared_ptr<const Task>();
  const auto source = std::find_if(sources_.begin(), sources_.end(), [&](const TaskSource& s) {
    return s.unlisted && s.name == id.substr(0, slash);
  });
  if (source == sources_.end()) return std::shared_ptr<const Task>();
  const auto allowed = [&](const std::shared_ptr<const Task>& task) {
    return served(task->split, held_out) ? task : nullptr;
  };
  {
    MutexLock lock(mutex_);
    if (const auto known = unlisted_.find(id); known != unlisted_.end())
      return allowed(known->second.task);
  }
  Result<Task> read = source->get(std::string(id.substr(slash + 1)));
  if (!read) {
    if (read.error().code == Code::kNotFound) return std::shared_ptr<const Task>();
    return read.error().in("dataset " + source->name);
  }
  read->dataset = source->name;
  MutexLock lock(mutex_);
  const auto [kept, added] = unlisted_.try_emplace(std::string(id));
  if (added) {  // else another thread loaded it first
    kept->second.task = std::make_shared<const Task>(std::move(read).value());
    unlisted_order_.emplace_back(id);
  }
  std::shared_ptr<const Task> task = kept->second.task;
  if (unlisted_.size() > kUnlistedKept) {
    unlisted_.erase(unlisted_order_.front());
    unlisted_order_.pop_front();
  }
  return allowed(task);
}

Result<std::shared_ptr<const Task>> Catalog::find(std::string_view id, bool held_out) const {
  HONE_ASSIGN(std::shared_ptr<const Task> unlisted, find_unlisted(id, held_out));
  if (unlisted != nullptr) return unlisted;
  HONE_ASSIGN(const TaskSummary* found, summary(id, held_out));
  const std::string full_id = found->full_id();
  {
    MutexLock lock(mutex_);
    if (const auto known = loaded_.find(full_id); known != loaded_.end()) return known->second;
  }
  const auto source = std::find_if(sources_.begin(), sources_.end(),
                                   [&](const TaskSource& s) { return s.name == found->dataset; });
  Result<Task> read = source->get(found->entry.id);
  if (!read) return read.error().in("dataset " + found->dataset);
  if (read->split != found->entry.split) {
    return internal_error("dataset " + found->dataset + ": the task '" + found->entry.id +
                          "' is listed in split '" + found->entry.split +
                          "' but its own split is '" + read->split + "'");
  }
  read->dataset = found->dataset;
  auto task = std::make_shared<const Task>(std::move(read).value());
  MutexLock lock(mutex_);
  return loaded_.emplace(full_id, std::move(task))
      .first->second;  // another thread may have loaded it first
}

Result<std::shared_ptr<const Task>> Catalog::find_for(std::string_view backend, std::string_view id,
                                                      bool held_out) const {
  HONE_ASSIGN(const std::shared_ptr<const Task> task, find(id, held_out));
  const std::pair key(std::string(backend), task->dataset + "/" + task->id);
  {
    MutexLock lock(mutex_);
    if (const auto unlisted = unlisted_.find(key.second); unlisted != unlisted_.end()) {
      auto& seen = unlisted->second.by_backend;
      if (const auto known = seen.find(backend); known != seen.end()) return known->second;
    }
    if (const auto known = seen_.find(key); known != seen_.end()) return known->second;
  }
  HONE_ASSIGN(Task seen, task_for_backend(*task, backend));
  auto shared = std::make_shared<const Task>(std::move(seen));
  MutexLock lock(mutex_);
  if (by_full_id_.find(key.second) == by_full_id_.end()) {
    const auto unlisted = unlisted_.find(key.second);
    if (unlisted == unlisted_.end()) return shared;  // it was dropped in the meantime
    return unlisted->second.by_backend.emplace(key.first, std::move(shared)).first->second;
  }
  return seen_.emplace(key, std::move(shared)).first->second;
}

Result<std::string> Catalog::draw(std::uint64_t seed, std::string_view split,
                                  std::string_view backend, bool held_out,
                                  const std::function<bool(const TaskEntry&)>& takes) const {
  HONE_ASSIGN(std::vector<const TaskSummary*> tasks, list(split, held_out));
  std::erase_if(tasks, [&](const TaskSummary* task) {
    if (takes && !takes(task->entry)) return true;
    return std::find(task->entry.backends.begin(), task->entry.backends.end(), backend) ==
           task->entry.backends.end();
  });
  if (tasks.empty()) {
    return not_found("no task of split '" + std::string(split) + "' has sources for backend '" +
                     std::string(backend) + "'" + (takes ? " and suits the environment" : ""));
  }
  return tasks[mix(seed) % tasks.size()]->full_id();
}

Result<TaskEntry> Catalog::entry(std::string_view id, bool held_out) const {
  HONE_ASSIGN(const std::shared_ptr<const Task> task, find_unlisted(id, held_out));
  if (task == nullptr) {
    HONE_ASSIGN(const TaskSummary* listed, summary(id, held_out));
    return listed->entry;
  }
  TaskEntry entry{task->id, task->title, task->split, task->tags, {}};
  for (const auto& [backend, sources] : task->backends) entry.backends.push_back(backend);
  return entry;
}

Result<std::vector<const TaskSummary*>> Catalog::list(std::string_view split, bool held_out) const {
  std::vector<const TaskSummary*> found;
  std::vector<std::string> splits;
  for (const TaskSummary& task : tasks_) {
    if (!served(task.entry.split, held_out)) continue;
    if (split.empty() || task.entry.split == split) found.push_back(&task);
    if (splits.size() < kNamesShown &&
        std::find(splits.begin(), splits.end(), task.entry.split) == splits.end()) {
      splits.push_back(task.entry.split);
    }
  }
  if (found.empty() && !split.empty()) {
    return not_found(unknown_name("split", split.substr(0, 128), splits));
  }
  return found;
}

}  // namespace hone
