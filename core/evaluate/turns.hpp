// Turns: who may use a device: lanes that check, several at a time, or one that measures.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "base/result.hpp"

namespace hone {

class Turn;

/// One device's. [any thread]
///
/// A lane that checks a submission shares the device with others that do. To measure, it waits for the device alone, and
/// they wait to share it again. So each comes to that point in time, and all that is not to be measured goes on side by
/// side. Who waits for the device alone comes before who waits to share it, in order.
///
/// No wait is silent or endless: it is logged every `kWarnSeconds` with the lanes that hold the device and their work, and
/// after `seconds_max` it fails.
class Turns {
 public:
  static constexpr double kWarnSeconds = 60;

  /// `seconds_max`: longest wait for a turn. `warn_seconds`: time between two log lines about one wait.
  explicit Turns(double seconds_max = 1e9, double warn_seconds = kWarnSeconds)
      : seconds_max_(seconds_max), warn_seconds_(warn_seconds) {}
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

 private:
  friend class Turn;

  const double seconds_max_, warn_seconds_;
  Mutex mutex_;
  Condition changed_;
  std::vector<const Turn*> lanes_ HONE_GUARDED_BY(mutex_);
  int inside_ HONE_GUARDED_BY(mutex_) = 0;   ///< lanes that have something on the device
  int sharing_ HONE_GUARDED_BY(mutex_) = 0;  ///< of those, that use it now
  int whole_waiting_ HONE_GUARDED_BY(mutex_) = 0;
  bool alone_ HONE_GUARDED_BY(mutex_) = false;  ///< one has it alone, or whole
  std::uint64_t entries_ HONE_GUARDED_BY(mutex_) = 0;
  std::uint64_t last_ticket_ HONE_GUARDED_BY(mutex_) = 0;
  std::list<std::uint64_t> alone_waiting_ HONE_GUARDED_BY(mutex_);  ///< front: served next
  double served_at_s_ HONE_GUARDED_BY(mutex_) =
      0;  ///< when the last one was, or the first began to wait
};

/// One lane's. One thread.
///
/// share(), give_way(), have_alone() and have_whole() fail with deadline_exceeded once they have waited for Turns' `seconds_max`. The
/// lane has then left the device.
class Turn {
 public:
  explicit Turn(Turns& turns, std::string lane = "a lane");
  ~Turn();
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  /// Shares the device with other lanes. Converts exclusive use to shared use; a lane that holds the whole device keeps it.
  Status share();
  /// Yields a shared device: lanes that wait to have it alone go first. What this lane has on it must stand still.
  Status give_way();
  /// Of one that shares: has it alone, once nobody else uses it. What others have on it stands still.
  Status have_alone();
  /// Has it alone, and nobody else anything on it, until leave(). Gives up what it had; nothing of its own may be there.
  Status have_whole();
  void leave();

  /// Whether another lane waits to have the device alone while this one shares it.
  bool is_in_the_way() const;
  /// Whether another lane waits to have it whole, or has waited for long to have it alone.
  bool is_wanted() const;
  bool has_whole() const { return state_ == State::kWhole; }
  bool is_sharing() const { return state_ == State::kSharing; }
  bool is_out() const { return state_ == State::kOut; }
  /// Whether others have something on the device now.
  bool beside_others() const;
  /// Whether others have had since share() or have_whole() let this one in.
  bool met_others() const;

  /// What this lane does now, for log lines of lanes that wait for it: "install level3/17".
  void set_work(std::string work);
  std::string work() const;  ///< [any thread]
  const std::string& lane() const { return lane_; }

 private:
  /// kWaiting: on the device, standing still.
  enum class State { kOut, kSharing, kWaiting, kAlone, kWhole };

  /// Waits until `is_free` holds. False: not within the time allowed.
  bool wait_for(const std::function<bool()>& is_free, const char* wanted, std::string& holders)
      HONE_REQUIRES(turns_.mutex_);
  void enter(State state) HONE_REQUIRES(turns_.mutex_);
  void leave_locked() HONE_REQUIRES(turns_.mutex_);
  std::string holders() const HONE_REQUIRES(turns_.mutex_);
  Error gave_up(const char* wanted, const std::string& holders) const;

  Turns& turns_;
  const std::string lane_;
  // Under the mutex of Turns, where other lanes read them; this lane's thread alone writes state_.
  State state_ = State::kOut;
  double since_s_ = 0;  ///< when state_ began
  std::string work_;
  std::uint64_t entered_ = 0;  ///< entries, this one's among them
  bool met_ = false;           ///< when it was let in
};

}  // namespace hone
