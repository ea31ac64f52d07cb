#include "evaluate/turns.hpp"

#include "base/clock.hpp"

namespace hone {
namespace {

constexpr double kTurnSeconds = 2;  // that one waits before others rest for it

}  // namespace

void Turn::share() {
  if (state_ == State::kSharing || state_ == State::kWhole) return;
  Turns& t = turns_;
  MutexLock lock(t.mutex_);
  if (state_ != State::kOut) {
    t.alone_ = false;
    t.changed_.notify_all();
  }
  // A lane that is inside has work to end before another one can have all of the device.
  const bool enters = state_ == State::kOut;
  while (t.alone_ || t.next_ != t.served_ || (enters && t.whole_waiting_ > 0))
    t.changed_.wait(t.mutex_);
  if (enters) {
    met_ = t.inside_++ > 0;
    entered_ = ++t.entries_;
  }
  ++t.sharing_;
  state_ = State::kSharing;
}

void Turn::have_alone() {
  if (state_ != State::kSharing) return;
  Turns& t = turns_;
  MutexLock lock(t.mutex_);
  --t.sharing_;
  if (t.next_ == t.served_) t.served_at_s_ = monotonic_s();
  const std::uint64_t ticket = t.next_++;
  t.changed_.notify_all();
  while (t.alone_ || t.sharing_ > 0 || t.served_ != ticket) t.changed_.wait(t.mutex_);
  ++t.served_;
  t.served_at_s_ = monotonic_s();
  t.alone_ = true;
  state_ = State::kAlone;
}

void Turn::have_whole() {
  if (state_ == State::kWhole) return;
  leave();
  Turns& t = turns_;
  MutexLock lock(t.mutex_);
  ++t.whole_waiting_;
  while (t.inside_ > 0) t.changed_.wait(t.mutex_);
  --t.whole_waiting_;
  ++t.inside_;
  entered_ = ++t.entries_;
  met_ = false;
  t.alone_ = true;
  state_ = State::kWhole;
}

void Turn::leave() {
  if (state_ == State::kOut) return;
  Turns& t = turns_;
  MutexLock lock(t.mutex_);
  if (state_ == State::kSharing) {
    --t.sharing_;
  } else {
    t.alone_ = false;
  }
  --t.inside_;
  state_ = State::kOut;
  t.changed_.notify_all();
}

bool Turn::is_wanted() const {
  MutexLock lock(turns_.mutex_);
  return turns_.whole_waiting_ > 0 ||
         (turns_.next_ != turns_.served_ && monotonic_s() - turns_.served_at_s_ > kTurnSeconds);
}

bool Turn::beside_others() const {
  MutexLock lock(turns_.mutex_);
  return turns_.inside_ > (state_ == State::kOut ? 0 : 1);
}

bool Turn::met_others() const {
  MutexLock lock(turns_.mutex_);
  return met_ || turns_.entries_ > entered_;
}

}  // namespace hone
