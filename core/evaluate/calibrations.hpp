// Calibrations: times of baselines on a device, kept for later installations of a task and later submissions.
#pragma once

#include <functional>
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
    const Finding* known = find_locked(key);
    return known != nullptr ? std::optional<Finding>(*known) : std::nullopt;
  }
  void keep(const std::string& key, Finding finding) {
    keep_if(key, std::move(finding), [](const Finding*) { return true; });
  }
  /// `is_better` compares with the known finding, or null.
  void keep_if(const std::string& key, Finding finding,
               const std::function<bool(const Finding* known)>& is_better) {
    MutexLock lock(mutex_);
    if (!is_better(find_locked(key))) return;
    if (found_.size() >= kMax) found_.clear();
    found_.insert_or_assign(key, Found{monotonic_s(), std::move(finding)});
  }

 private:
  static constexpr double kSeconds = 600;  ///< lifetime of a finding
  static constexpr std::size_t kMax = 1 << 14;
  struct Found {
    double at_s = 0;
    Finding finding;
  };
  const Finding* find_locked(const std::string& key) const HONE_REQUIRES(mutex_) {
    const auto found = found_.find(key);
    if (found == found_.end() || monotonic_s() - found->second.at_s > kSeconds) return nullptr;
    return &found->second.finding;
  }
  mutable Mutex mutex_;
  std::map<std::string, Found> found_ HONE_GUARDED_BY(mutex_);
};

/// Times of rounds of modules' baselines, measured while no other lane used the device. [any thread]
class UncontendedTimes {
 public:
  std::optional<UncontendedTime> find(const std::string& key) const { return times_.find(key); }
  /// Rationale: a limited time was measured against the known time plus a tolerance. It must not raise the
  /// known time.
  void keep(const std::string& key, const UncontendedTime& found) {
    times_.keep_if(key, found, [&](const UncontendedTime* known) {
      if (!found.held) return true;
      const UncontendedTime before = known != nullptr ? *known : UncontendedTime{};
      return before.calls == found.calls && found.seconds < before.seconds;
    });
  }

 private:
  Recent<UncontendedTime> times_;
};

}  // namespace hone
