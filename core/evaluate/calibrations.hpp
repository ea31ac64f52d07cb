// Calibrations: what baselines of a device were found to take, for those that are installed again and for submissions
// that are measured beside them.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "base/mutex.hpp"
#include "judge/messages.hpp"
#include "model/value.hpp"

namespace hone {

/// In the judge's words. [any thread]
class Calibrations {
 public:
  std::optional<Value> find(const std::string& key) const {
    MutexLock lock(mutex_);
    const Value* known = find_locked(key);
    return known != nullptr ? std::optional<Value>(*known) : std::nullopt;
  }
  void keep(const std::string& key, Value value) {
    keep_if(key, std::move(value), [](const Value*) { return true; });
  }
  /// `is_better`: than what is known, NULL where nothing is.
  void keep_if(const std::string& key, Value value,
               const std::function<bool(const Value* known)>& is_better) {
    MutexLock lock(mutex_);
    if (!is_better(find_locked(key))) return;
    if (found_.size() >= kMax) found_.clear();
    found_.insert_or_assign(key, Found{monotonic_s(), std::move(value)});
  }

 private:
  static constexpr double kSeconds = 600;  ///< that one counts
  static constexpr std::size_t kMax = 1 << 14;
  struct Found {
    double at_s = 0;
    Value value;
  };
  const Value* find_locked(const std::string& key) const HONE_REQUIRES(mutex_) {
    const auto found = found_.find(key);
    if (found == found_.end() || monotonic_s() - found->second.at_s > kSeconds) return nullptr;
    return &found->second.value;
  }
  mutable Mutex mutex_;
  std::map<std::string, Found> found_ HONE_GUARDED_BY(mutex_);
};

/// What rounds of modules' baselines take while nobody else has the device. [any thread]
class VouchedTimes {
 public:
  std::optional<Value> find(const std::string& key) const { return times_.find(key); }
  /// Rationale: rounds that were held to what was known before may take more than another submission has found since.
  void keep(const std::string& key, const Value& value) {
    const auto found = vouched_from_value(value);
    if (!found) return;
    times_.keep_if(key, value, [&](const Value* known) {
      if (!found->held) return true;
      const auto before = known != nullptr ? vouched_from_value(*known) : Vouched{};
      return before && before->calls == found->calls && found->seconds < before->seconds;
    });
  }

 private:
  Calibrations times_;
};

}  // namespace hone
