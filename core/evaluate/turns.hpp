// Turns: who may use a device: lanes that check, several at a time, or one that measures.
#pragma once

#include <cstdint>

#include "base/mutex.hpp"

namespace hone {

/// One device's. [any thread]
///
/// A lane that checks a submission shares the device with others that do. To measure, it waits for the device alone, and
/// they wait to share it again. So each comes to that point in time, and all that is not to be measured goes on side by
/// side. Who waits for the device alone comes before who waits to share it, in order.
class Turns {
 public:
  Turns() = default;
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

 private:
  friend class Turn;

  Mutex mutex_;
  Condition changed_;
  int inside_ HONE_GUARDED_BY(mutex_) = 0;   ///< lanes that have something on the device
  int sharing_ HONE_GUARDED_BY(mutex_) = 0;  ///< of those, that use it now
  int whole_waiting_ HONE_GUARDED_BY(mutex_) = 0;
  bool alone_ HONE_GUARDED_BY(mutex_) = false;  ///< one has it alone, or whole
  std::uint64_t entries_ HONE_GUARDED_BY(mutex_) = 0;
  std::uint64_t next_ HONE_GUARDED_BY(mutex_) = 0, served_ HONE_GUARDED_BY(mutex_) = 0;
  double served_at_s_ HONE_GUARDED_BY(mutex_) =
      0;  ///< when the last one was, or the first began to wait
};

/// One lane's. One thread.
class Turn {
 public:
  explicit Turn(Turns& turns) : turns_(turns) {}
  ~Turn() { leave(); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  /// Uses the device beside others; of one that had it alone. One that has it whole keeps it.
  void share();
  /// Of one that shares: has it alone, once nobody else uses it. What others have on it stands still.
  void have_alone();
  /// Has it alone, and nobody else anything on it, until leave(). Gives up what it had; nothing of its own may be there.
  void have_whole();
  void leave();

  /// Whether another lane waits to have it whole, or has waited for long to have it alone.
  bool is_wanted() const;
  bool has_whole() const { return state_ == State::kWhole; }
  bool is_sharing() const { return state_ == State::kSharing; }
  /// Whether others have something on the device now.
  bool beside_others() const;
  /// Whether others have had since share() or have_whole() let this one in.
  bool met_others() const;

 private:
  enum class State { kOut, kSharing, kAlone, kWhole };

  Turns& turns_;
  State state_ = State::kOut;
  std::uint64_t entered_ = 0;  ///< entries, this one's among them
  bool met_ = false;           ///< when it was let in
};

}  // namespace hone
