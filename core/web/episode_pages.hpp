// EpisodePages: what the web page shows of a journal, as JSON.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "base/result.hpp"
#include "journal/reader.hpp"
#include "journal/records.hpp"
#include "model/value.hpp"
#include "web/figure_cache.hpp"
#include "web/followed_course.hpp"
#include "web/followed_tasks.hpp"

namespace hone {

/// [any thread] Reads the journal anew for each request, so that it holds no snapshot of a journal that a server writes.
/// Memory is bounded by one page of the list, by one episode, or by the courses of FigureCache::kKeptMax tasks. An error is the journal's: not_found, failed_precondition
/// (damaged, or of another version), unavailable.
///
///   EpisodePages pages("run.db", [](const StoredEpisode& stored) { return trajectory_without_prompt(stored); });
///   HttpReply reply{.body = *pages.list({{"search", "softmax"}}, request.gone)};
class EpisodePages {
 public:
  using Query = std::vector<std::pair<std::string, std::string>>;
  using Gone = FigureCache::Gone;
  /// A trajectory of a stored episode (episode/trajectory.hpp). Called by one thread at a time.
  using Trajectory = std::function<Result<Value>(const StoredEpisode&)>;

  EpisodePages(std::string path, Trajectory trajectory);

  const std::string& path() const { return path_; }
  /// The first error that a request would have.
  Status check() const;
  /// {"tasks", "left_out", "all", "at"} (task_figures.hpp). Reads the turns that were written since the last request, or every
  /// turn for a client or reward. The result is kept for some seconds.
  /// Query: client, reward. invalid_argument: a value is too long. unavailable: too many requests with a client or reward.
  /// cancelled, also of over_time(), names() and list(): `gone` has become true, or stop() was called.
  Result<Value> tasks(const Query& query, const Gone& gone) const;
  /// {"task", "intervals", "unscored", "at"} (followed_course.hpp). Reads the turns that were written since the last request for
  /// this task. The result is kept for some seconds. Query: task, a full name; without it, all tasks together.
  Result<Value> over_time(const Query& query, const Gone& gone) const;
  /// {"clients": [NAME], "rewards": [NAME], "tasks": [NAME]}: the most frequent first, at most 1000 each.
  Result<Value> names(const Gone& gone) const;
  /// {"episodes": [{"episode", "task", "client", "group", "state", "turns", "best_speedup", "last_reward", "reward",
  ///  "opened_at", "changed_at"}], "next"}, the newest first. Query: search, task, client, group, state, outcome, limit (1 to
  /// 200), and `after` with the "next" of the page before; "next" is nil on the last page. invalid_argument: a value is malformed.
  Result<Value> list(const Query& query, const Gone& gone) const;
  /// The trajectory with its prompt apart: {"prompt": [messages], "turns", "calls", …}; not_found: there is none of this name.
  Result<Value> episode(std::string_view name) const;
  /// Ends requests that take long.
  void stop() { stopping_ = true; }

 private:
  /// A reader whose statements end with `cancelled` once `gone` is true, or after stop().
  Result<std::unique_ptr<JournalReader>> open(const Gone& gone) const;
  Result<Value> read_tasks(const EpisodeFilter& filter, const Gone& gone) const;

  const std::string path_;
  const Trajectory trajectory_;
  mutable Mutex trajectory_mutex_;
  std::atomic<bool> stopping_{false};
  /// FigureCache computes one task's figures in one thread at a time, so a course needs no lock.
  std::shared_ptr<FollowedCourse> course_of(const std::string& task) const;

  mutable FigureCache tasks_, over_time_;
  /// Of all clients and rewards. Likewise without a lock.
  mutable FollowedTasks followed_tasks_;
  mutable Mutex courses_mutex_;
  struct Course {
    std::shared_ptr<FollowedCourse> followed;
    std::uint64_t used = 0;  ///< number of the request that used it last
  };
  mutable std::map<std::string, Course> courses_ HONE_GUARDED_BY(courses_mutex_);  // by task
  mutable std::uint64_t requests_ HONE_GUARDED_BY(courses_mutex_) = 0;
};

}  // namespace hone
