// DeviceUses: the number of submissions that each device has evaluated, and its busy time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/mutex.hpp"
#include "evaluate/options.hpp"
#include "model/value.hpp"

namespace hone {

/// [any thread] Lanes have the numbers 0, 1, … in the order of add_lane().
class DeviceUses {
 public:
  explicit DeviceUses(const std::vector<DeviceSpec>& devices) : devices_(devices) {}

  void add_lane(std::size_t device) {
    MutexLock lock(mutex_);
    lanes_.push_back({device, 0, 0, std::nullopt});
  }
  void begin(std::size_t lane) {
    MutexLock lock(mutex_);
    lanes_[lane].begun_s = monotonic_s();
  }
  /// Ends the lane's submission, if it has one.
  void end(std::size_t lane) {
    MutexLock lock(mutex_);
    Lane& one = lanes_[lane];
    if (!one.begun_s) return;
    ++one.evaluations;
    one.busy_s += monotonic_s() - *std::exchange(one.begun_s, std::nullopt);
  }

  /// How long the lane has had its submission; 0: it has none.
  double busy_s(std::size_t lane) const {
    MutexLock lock(mutex_);
    const std::optional<double>& begun_s = lanes_[lane].begun_s;
    return begun_s ? monotonic_s() - *begun_s : 0;
  }

  /// {"0": {"evaluations": n, "busy_s": x}}, by the number of the device. A submission that a device gets twice counts twice.
  /// "busy_s" is the mean over the device's lanes, and includes submissions in progress.
  Value value() const {
    MutexLock lock(mutex_);
    const double now = monotonic_s();
    std::vector<std::uint64_t> evaluations(devices_.size(), 0);
    std::vector<double> busy_s(devices_.size(), 0);
    for (const Lane& lane : lanes_) {
      evaluations[lane.device] += lane.evaluations;
      busy_s[lane.device] += lane.busy_s + (lane.begun_s ? now - *lane.begun_s : 0);
    }
    Value value = Value::map();
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      const double lanes = 1 + static_cast<double>(devices_[i].lanes.size());
      value.set(std::to_string(devices_[i].index),
                Value::map({{"evaluations", evaluations[i]}, {"busy_s", busy_s[i] / lanes}}));
    }
    return value;
  }

 private:
  struct Lane {
    std::size_t device;  ///< in devices_
    std::uint64_t evaluations;
    double busy_s;
    std::optional<double> begun_s;  ///< of its submission
  };
  const std::vector<DeviceSpec>& devices_;
  mutable Mutex mutex_;
  std::vector<Lane> lanes_ HONE_GUARDED_BY(mutex_);
};

}  // namespace hone
