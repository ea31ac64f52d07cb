// Recent: findings about a task on a device, kept for later installations of the task.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "base/mutex.hpp"
#include "judge_protocol/findings.hpp"

namespace hone {

/// Findings by key, for kSeconds each. [any thread]
template <typename Finding>
class Recent {
 public:
  std::optional<Finding> find(const std::string& key) const {
    MutexLock lock(mutex_);
    const auto found = found_.find(key);
    if (found == found_.end() || monotonic_s() - found->second.at_s > kSeconds) return std::nullopt;
    return found->second.finding;
  }
  void keep(const std::string& key, Finding finding) {
    MutexLock lock(mutex_);
    if (found_.size() >= kMax) found_.clear();
    found_.insert_or_assign(key, Found{monotonic_s(), std::move(finding)});
  }

 private:
  /// Lifetime of a finding (s): a day. The reference's error does not change. The times only plan rounds and
  /// checks, because each evaluation times the baseline again.
  static constexpr double kSeconds = 86'400;
  static constexpr std::size_t kMax = 1 << 14;
  struct Found {
    double at_s = 0;
    Finding finding;
  };
  mutable Mutex mutex_;
  std::map<std::string, Found> found_ HONE_GUARDED_BY(mutex_);
};

}  // namespace hone
