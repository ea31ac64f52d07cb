#include "evaluate/device_lock.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/clock.hpp"
#include "base/log.hpp"

namespace hone {
namespace {

constexpr double kPatienceSeconds = 2;  // wait for timing after which other lanes leave the device

constexpr const char *kToShare = "to share the device", *kForTiming = "for the device exclusively",
                     *kForExclusive =
                         "for the device exclusively, with nothing of other lanes on it";

std::string whole_seconds(double seconds) { return std::to_string(std::lround(seconds)) + " s"; }

}  // namespace

double LockClock::now_s() const { return monotonic_s(); }

void LockClock::wait(Condition& changed, Mutex& mutex, double seconds) {
  changed.wait_for(mutex, std::chrono::duration<double>(seconds));
}

LockClock& system_lock_clock() {
  static LockClock clock;
  return clock;
}

bool DeviceLock::timing_comes_first() const {
  if (timing_waiting_.empty()) return false;
  return timing_waiting_.size() >= static_cast<std::size_t>(sharing_) ||
         clock_.now_s() - served_at_s_ >= kGatherSeconds;
}

double DeviceLock::shared_seconds() const {
  return shared_s_ + (sharing_ > 1 ? clock_.now_s() - sharing_since_s_ : 0);
}

void DeviceLock::add_sharing(int change) {
  shared_s_ = shared_seconds();
  sharing_since_s_ = clock_.now_s();
  sharing_ += change;
}

LaneLock::LaneLock(DeviceLock& lock, std::string lane) : lock_(lock), lane_(std::move(lane)) {
  MutexLock guard(lock_.mutex_);
  lock_.lanes_.push_back(this);
}

LaneLock::~LaneLock() {
  leave();
  MutexLock guard(lock_.mutex_);
  std::erase(lock_.lanes_, this);
}

/// The lanes on the device, with the duration of their use and their step.
std::string LaneLock::holders() const {
  std::string text;
  for (const LaneLock* other : lock_.lanes_) {
    if (other == this || other->state_ == State::kUnlocked) continue;
    const char* how = other->state_ == State::kShared    ? " has shared it for "
                      : other->state_ == State::kWaiting ? " has waited with work on it for "
                                                         : " has held it for ";
    text += (text.empty() ? "" : ", ") + other->lane_ + how +
            whole_seconds(lock_.clock_.now_s() - other->since_s_) + ", in \"" + other->work_ + "\"";
  }
  return text.empty() ? "no lane holds it" : text;
}

bool LaneLock::wait_for(const std::function<bool()>& is_free, const char* wanted,
                        std::string& holders_then) {
  const double begun_s = lock_.clock_.now_s(), ends_s = begun_s + lock_.seconds_max_;
  double warn_s = begun_s + lock_.warn_seconds_;
  while (!is_free()) {
    const double now = lock_.clock_.now_s();
    if (now >= ends_s) {
      holders_then = holders();
      return false;
    }
    if (now >= warn_s) {
      warn_s = now + lock_.warn_seconds_;
      log_warning("evaluate", lane_ + ", in \"" + work_ + "\": waited " +
                                  whole_seconds(now - begun_s) + " " + wanted + " (" + holders() +
                                  ")");
    }
    const double next_s = std::min(ends_s, warn_s) - now;
    lock_.clock_.wait(lock_.changed_, lock_.mutex_, std::min(next_s, 3600.0));
  }
  return true;
}

Error LaneLock::gave_up(const char* wanted, const std::string& holders_then) const {
  return {Code::kDeadlineExceeded, lane_ + ": waited " + whole_seconds(lock_.seconds_max_) + " " +
                                       wanted + " (" + holders_then + ")"};
}

void LaneLock::enter(State state) {
  state_ = state;
  since_s_ = lock_.clock_.now_s();
}

Status LaneLock::share() {
  if (state_ == State::kShared || state_ == State::kExclusive) return {};
  MutexLock guard(lock_.mutex_);
  // A lane on the device must finish its work before another one can be exclusive.
  const bool enters = state_ == State::kUnlocked;
  if (state_ == State::kTiming) {
    lock_.exclusive_ = false;
    enter(State::kWaiting);
    lock_.changed_.notify_all();
  }
  const auto is_free = [&]() HONE_REQUIRES(lock_.mutex_) {
    return !lock_.exclusive_ && !lock_.timing_comes_first() &&
           !(enters && lock_.exclusive_waiting_ > 0);
  };
  const std::uint64_t ticket = ++lock_.last_ticket_;
  if (enters) lock_.share_waiting_.push_back(ticket);
  std::string holders_then;
  const bool served = wait_for(is_free, kToShare, holders_then);
  lock_.share_waiting_.remove(ticket);
  if (!served) {
    lock_.changed_.notify_all();
    leave_locked();
    return gave_up(kToShare, holders_then);
  }
  if (enters) {
    met_ = lock_.inside_++ > 0;
    entered_ = ++lock_.entries_;
  }
  lock_.add_sharing(1);
  enter(State::kShared);
  lock_.changed_.notify_all();
  return {};
}

Status LaneLock::yield() {
  if (state_ != State::kShared) return {};
  {
    MutexLock guard(lock_.mutex_);
    if (!lock_.timing_comes_first()) return {};
    lock_.add_sharing(-1);
    enter(State::kWaiting);
    lock_.changed_.notify_all();
  }
  return share();
}

Status LaneLock::lock_for_timing() {
  if (state_ != State::kShared) return {};
  MutexLock guard(lock_.mutex_);
  lock_.add_sharing(-1);
  if (lock_.timing_waiting_.empty()) lock_.served_at_s_ = lock_.clock_.now_s();
  const std::uint64_t ticket = ++lock_.last_ticket_;
  lock_.timing_waiting_.push_back(ticket);
  enter(State::kWaiting);
  lock_.changed_.notify_all();
  const auto is_free = [&]() HONE_REQUIRES(lock_.mutex_) {
    return !lock_.exclusive_ && lock_.sharing_ == 0 && lock_.timing_waiting_.front() == ticket;
  };
  std::string holders_then;
  const bool served = wait_for(is_free, kForTiming, holders_then);
  lock_.timing_waiting_.remove(ticket);
  lock_.served_at_s_ = lock_.clock_.now_s();
  if (!served) {
    leave_locked();
    return gave_up(kForTiming, holders_then);
  }
  lock_.exclusive_ = true;
  enter(State::kTiming);
  return {};
}

Status LaneLock::lock_exclusive() {
  if (state_ == State::kExclusive) return {};
  leave();
  MutexLock guard(lock_.mutex_);
  std::string holders_then;
  const std::uint64_t last = lock_.last_ticket_;
  const auto earlier_are_served = [&]() HONE_REQUIRES(lock_.mutex_) {
    return lock_.share_waiting_.empty() || lock_.share_waiting_.front() > last;
  };
  if (!wait_for(earlier_are_served, kForExclusive, holders_then))
    return gave_up(kForExclusive, holders_then);
  ++lock_.exclusive_waiting_;
  const auto is_free = [&]() HONE_REQUIRES(lock_.mutex_) { return lock_.inside_ == 0; };
  const bool served = wait_for(is_free, kForExclusive, holders_then);
  --lock_.exclusive_waiting_;
  if (!served) {
    lock_.changed_.notify_all();
    return gave_up(kForExclusive, holders_then);
  }
  ++lock_.inside_;
  entered_ = ++lock_.entries_;
  met_ = false;
  lock_.exclusive_ = true;
  enter(State::kExclusive);
  return {};
}

void LaneLock::leave() {
  MutexLock guard(lock_.mutex_);
  leave_locked();
}

void LaneLock::leave_locked() {
  if (state_ == State::kUnlocked) return;
  if (state_ == State::kShared) lock_.add_sharing(-1);
  if (state_ == State::kTiming || state_ == State::kExclusive) lock_.exclusive_ = false;
  --lock_.inside_;
  enter(State::kUnlocked);
  lock_.changed_.notify_all();
}

bool LaneLock::blocks_timing() const {
  MutexLock guard(lock_.mutex_);
  return state_ == State::kShared && lock_.timing_comes_first();
}

bool LaneLock::is_awaited() const {
  MutexLock guard(lock_.mutex_);
  return lock_.exclusive_waiting_ > 0 ||
         (!lock_.timing_waiting_.empty() &&
          lock_.clock_.now_s() - lock_.served_at_s_ > kPatienceSeconds);
}

bool LaneLock::has_neighbours() const {
  MutexLock guard(lock_.mutex_);
  return lock_.inside_ > (state_ == State::kUnlocked ? 0 : 1);
}

bool LaneLock::had_neighbours() const {
  MutexLock guard(lock_.mutex_);
  return met_ || lock_.entries_ > entered_;
}

double LaneLock::shared_seconds() const {
  MutexLock guard(lock_.mutex_);
  return lock_.shared_seconds();
}

void LaneLock::set_work(std::string work) {
  MutexLock guard(lock_.mutex_);
  work_ = std::move(work);
}

std::string LaneLock::work() const {
  MutexLock guard(lock_.mutex_);
  return work_;
}

}  // namespace hone
