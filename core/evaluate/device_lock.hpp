// DeviceLock: who may use a device: several lanes that check, or one that measures.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "base/result.hpp"

namespace hone {

class LaneLock;

/// How time passes for a lock, and how a lane waits. Tests replace it.
class LockClock {
 public:
  virtual ~LockClock() = default;
  virtual double now_s() const;
  /// Returns when the lock has changed, at the latest after `seconds`; or earlier.
  virtual void wait(Condition& changed, Mutex& mutex, double seconds) HONE_REQUIRES(mutex);
};
LockClock& system_lock_clock();

/// One device's lock. [any thread]
///
/// Lanes that check submissions share the device. To measure, a lane waits until it has the device for timing: the other
/// lanes keep their processes and memory on it, run nothing, and wait to share it again. For exclusive use, all other lanes
/// must have left the device. A lane that wants the device exclusively first waits for the lanes that began to wait for a share
/// before it.
///
/// Lanes that wait for timing are served in order, one right after the other. They come before lanes that share once they are at
/// least as many, or if none of them was served for `kGatherSeconds`. Rationale: while one lane measures, no other works. If all
/// lanes stopped whenever one wants to measure, they would seldom work at the same time.
///
/// No wait is silent or endless: every `kWarnSeconds` the log names the lanes that hold the device and their work, and after
/// `seconds_max` the wait fails.
class DeviceLock {
 public:
  static constexpr double kWarnSeconds = 60;
  /// Time since a lane was last served for timing, or began to wait for it, after which lanes that share stop (s).
  static constexpr double kGatherSeconds = 0.25;

  /// `seconds_max`: longest wait. `warn_seconds`: time between two log lines about one wait.
  explicit DeviceLock(double seconds_max = 1e9, double warn_seconds = kWarnSeconds,
                      LockClock& clock = system_lock_clock())
      : seconds_max_(seconds_max), warn_seconds_(warn_seconds), clock_(clock) {}
  DeviceLock(const DeviceLock&) = delete;
  DeviceLock& operator=(const DeviceLock&) = delete;

 private:
  friend class LaneLock;

  /// Whether lanes that share must stop, so that lanes that wait for timing can measure.
  bool timing_comes_first() const HONE_REQUIRES(mutex_);
  double shared_seconds() const HONE_REQUIRES(mutex_);
  void add_sharing(int change) HONE_REQUIRES(mutex_);

  const double seconds_max_, warn_seconds_;
  LockClock& clock_;
  Mutex mutex_;
  Condition changed_;
  std::vector<const LaneLock*> lanes_ HONE_GUARDED_BY(mutex_);
  int inside_ HONE_GUARDED_BY(mutex_) = 0;   ///< lanes with processes or memory on the device
  int sharing_ HONE_GUARDED_BY(mutex_) = 0;  ///< of these, lanes that use it now
  int exclusive_waiting_ HONE_GUARDED_BY(mutex_) = 0;
  bool exclusive_ HONE_GUARDED_BY(mutex_) = false;  ///< a lane has it for timing, or exclusively
  std::uint64_t entries_ HONE_GUARDED_BY(mutex_) = 0;
  std::uint64_t last_ticket_ HONE_GUARDED_BY(mutex_) = 0;
  std::list<std::uint64_t> timing_waiting_ HONE_GUARDED_BY(mutex_);  ///< front: served next
  std::list<std::uint64_t> share_waiting_
      HONE_GUARDED_BY(mutex_);  ///< lanes that wait to enter; front: has waited longest
  double shared_s_ HONE_GUARDED_BY(mutex_) =
      0;  ///< shared_seconds() when sharing_ last changed (s)
  double sharing_since_s_ HONE_GUARDED_BY(mutex_) = 0;  ///< when sharing_ last changed (s)
  double served_at_s_ HONE_GUARDED_BY(mutex_) =
      0;  ///< when a waiting lane was last served, or when the first one began to wait
};

/// One lane's state of the lock. One thread.
///
/// share(), yield(), lock_for_timing() and lock_exclusive() fail with deadline_exceeded after the
/// `seconds_max` of DeviceLock. The lane has then left the device.
class LaneLock {
 public:
  explicit LaneLock(DeviceLock& lock, std::string lane = "a lane");
  ~LaneLock();
  LaneLock(const LaneLock&) = delete;
  LaneLock& operator=(const LaneLock&) = delete;

  /// Shares the device with other lanes. Converts timing to shared use; an exclusive lane stays exclusive.
  Status share();
  /// If lanes that wait for timing come first, lets them measure. This lane must not run anything on the device meanwhile.
  Status yield();
  /// From shared: returns once no other lane uses the device.
  Status lock_for_timing();
  /// Until leave(). First leaves the device; this lane must have no process on it.
  Status lock_exclusive();
  void leave();

  /// Whether this lane shares the device and should yield it.
  bool blocks_timing() const;
  /// Whether another lane waits for exclusive use, or has waited for some seconds for timing.
  bool is_awaited() const;
  bool is_exclusive() const { return state_ == State::kExclusive; }
  bool is_shared() const { return state_ == State::kShared; }
  bool is_unlocked() const { return state_ == State::kUnlocked; }
  /// Whether other lanes have something on the device now.
  bool has_neighbours() const;
  /// Whether other lanes have had something on the device since share() or lock_exclusive() returned.
  bool had_neighbours() const;
  /// Total time in which several lanes shared the device (s). While this lane shares it, the difference of two values is the
  /// time in which other lanes used it, too.
  double shared_seconds() const;

  /// Sets the lane's current step for log lines of waiting lanes: "install level3/17".
  void set_work(std::string work);
  std::string work() const;  ///< [any thread]
  const std::string& lane() const { return lane_; }

 private:
  /// kWaiting: it has something on the device, but runs nothing.
  enum class State { kUnlocked, kShared, kWaiting, kTiming, kExclusive };

  /// Waits until `is_free` is true. False: the time limit passed.
  bool wait_for(const std::function<bool()>& is_free, const char* wanted, std::string& holders)
      HONE_REQUIRES(lock_.mutex_);
  void enter(State state) HONE_REQUIRES(lock_.mutex_);
  void leave_locked() HONE_REQUIRES(lock_.mutex_);
  std::string holders() const HONE_REQUIRES(lock_.mutex_);
  Error gave_up(const char* wanted, const std::string& holders) const;

  DeviceLock& lock_;
  const std::string lane_;
  // Guarded by the mutex of DeviceLock, because other lanes read them. Only this lane's thread writes state_.
  State state_ = State::kUnlocked;
  double since_s_ = 0;  ///< when state_ began
  std::string work_;
  std::uint64_t entered_ = 0;  ///< value of entries_ after this lane's entry
  bool met_ = false;           ///< other lanes were on the device when this one entered
};

}  // namespace hone
