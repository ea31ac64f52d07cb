// MemoryLedger: reservations of one device's memory by its lanes.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "base/result.hpp"

namespace hone {

/// One device's. [any thread]
///
/// Theory of operation. Each lane has a claim, in bytes: for the task that it works on and for those that it keeps ready.
/// The claims together are never more than the device has. A lane raises its claim before it works, while it holds no turn
/// (device_lock.hpp), so that no two lanes wait for each other; lanes that wait are served in order, but for one that passes another
/// while that would have to wait anyway: a small task runs with a large one although the next large one came before it. A
/// lane at rest keeps what it has until another lane needs it, and then that one takes it back.
class MemoryLedger {
 public:
  static constexpr double kWarnSeconds = 60;

  /// `seconds_max`: longest wait for memory. `warn_seconds`: time between two log lines about one wait.
  explicit MemoryLedger(double seconds_max = 1e9, double warn_seconds = kWarnSeconds)
      : seconds_max_(seconds_max), warn_seconds_(warn_seconds) {}
  MemoryLedger(const MemoryLedger&) = delete;
  MemoryLedger& operator=(const MemoryLedger&) = delete;

  /// Returns the lane's number. Before any other call.
  std::size_t add_lane(std::string name);
  /// Total for all lanes, in bytes; 0, the default: unlimited.
  void set_bytes(std::uint64_t bytes);

  /// Reserves `bytes`, or all there is if that is less, and marks the lane busy. False: it does not fit, or a lane that waits
  /// comes first. A reservation is never lowered by this, only by settle(). `again`: the lane keeps this task ready, so it may go ahead of lanes that wait.
  bool try_claim(std::size_t lane, std::uint64_t bytes, bool again = false);
  /// Waits until the claim fits, then grants it. Returns the lanes at rest whose tasks the caller must drop before it uses the
  /// memory; they get no claim until free_again(). unavailable: `is_over` became true; call wake() when it may have.
  /// deadline_exceeded: `seconds_max` passed.
  Result<std::vector<std::size_t>> claim(std::size_t lane, std::uint64_t bytes,
                                         const std::function<bool()>& is_over = nullptr);
  /// The tasks of these lanes have been dropped.
  void free_again(const std::vector<std::size_t>& lanes);
  /// Lets waiting lanes check again whether their jobs are over.
  void wake();
  /// Whether claim() would return at once, if no other lane claims before.
  bool could_claim(std::size_t lane, std::uint64_t bytes) const;
  /// Lowers the lane's reservation to `bytes`.
  void settle(std::size_t lane, std::uint64_t bytes);
  /// Marks the lane idle, until it claims again, and lowers its reservation to `bytes`.
  void rest(std::size_t lane, std::uint64_t bytes);

  /// Whether another lane waits.
  bool is_awaited() const;
  std::uint64_t claimed() const;  ///< by all lanes

 private:
  struct Lane {
    std::string name;
    std::uint64_t bytes = 0;
    bool works = false;
    bool passed = false;  ///< it runs ahead of a lane that waited longer
    bool yields = false;  ///< another lane is dropping its tasks
  };
  struct Wait {
    std::size_t lane = 0;
    std::uint64_t bytes = 0;
  };
  bool has_room(std::uint64_t held, std::uint64_t bytes) const HONE_REQUIRES(mutex_);
  bool fits(std::size_t lane, std::uint64_t bytes) const HONE_REQUIRES(mutex_);
  bool could_fit(std::size_t lane, std::uint64_t bytes) const HONE_REQUIRES(mutex_);
  bool may_go(std::size_t lane) const HONE_REQUIRES(mutex_);
  bool is_first(std::size_t lane) const HONE_REQUIRES(mutex_);
  void stop_waiting(std::size_t lane) HONE_REQUIRES(mutex_);
  void grant(std::size_t lane, std::uint64_t bytes) HONE_REQUIRES(mutex_);
  std::string holders(std::size_t lane) const HONE_REQUIRES(mutex_);

  const double seconds_max_, warn_seconds_;
  mutable Mutex mutex_;
  Condition changed_;
  std::vector<Lane> lanes_ HONE_GUARDED_BY(mutex_);
  std::uint64_t bytes_ HONE_GUARDED_BY(mutex_) = 0;
  std::list<Wait> waiting_ HONE_GUARDED_BY(mutex_);  ///< front: has waited longest
};

}  // namespace hone
