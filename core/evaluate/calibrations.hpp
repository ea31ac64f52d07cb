// Calibrations: what baselines of a device were found to take, for those that are installed again.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/mutex.hpp"
#include "model/value.hpp"

namespace hone {

/// In the judge's words. [any thread]
class Calibrations {
 public:
  std::optional<Value> find(const std::string& key) const {
    MutexLock lock(mutex_);
    const auto found = found_.find(key);
    if (found == found_.end() || monotonic_s() - found->second.at_s > kSeconds) return std::nullopt;
    return found->second.value;
  }
  void keep(const std::string& key, Value value) {
    MutexLock lock(mutex_);
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
  mutable Mutex mutex_;
  std::map<std::string, Found> found_ HONE_GUARDED_BY(mutex_);
};

}  // namespace hone
