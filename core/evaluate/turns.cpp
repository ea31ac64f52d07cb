#include "evaluate/turns.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/clock.hpp"
#include "base/log.hpp"

namespace hone {
namespace {

constexpr double kTurnSeconds = 2;  // that one waits before others rest for it

constexpr const char *kShared = "to share the device", *kAlone = "for the device exclusively",
                     *kWhole = "for the device exclusively, with nothing of other lanes on it";

std::string whole_seconds(double seconds) { return std::to_string(std::lround(seconds)) + " s"; }

}  // namespace

Turn::Turn(Turns& turns, std::string lane) : turns_(turns), lane_(std::move(lane)) {
  MutexLock lock(turns_.mutex_);
  turns_.lanes_.push_back(this);
}

Turn::~Turn() {
  leave();
  MutexLock lock(turns_.mutex_);
  std::erase(turns_.lanes_, this);
}

/// The lanes that are on the device, and what they do there.
std::string Turn::holders() const {
  std::string text;
  for (const Turn* other : turns_.lanes_) {
    if (other == this || other->state_ == State::kOut) continue;
    const char* how = other->state_ == State::kSharing   ? " shares it since "
                      : other->state_ == State::kWaiting ? " waits on it since "
                                                         : " has it since ";
    text += (text.empty() ? "" : ", ") + other->lane_ + how +
            whole_seconds(monotonic_s() - other->since_s_) + ", in \"" + other->work_ + "\"";
  }
  return text.empty() ? "no lane has it" : text;
}

bool Turn::wait_for(const std::function<bool()>& is_free, const char* wanted,
                    std::string& holders_then) {
  const double begun_s = monotonic_s(), ends_s = begun_s + turns_.seconds_max_;
  double warn_s = begun_s + turns_.warn_seconds_;
  while (!is_free()) {
    const double now = monotonic_s();
    if (now >= ends_s) {
      holders_then = holders();
      return false;
    }
    if (now >= warn_s) {
      warn_s = now + turns_.warn_seconds_;
      log_warning("evaluate", lane_ + ", in \"" + work_ + "\": waited " +
                                  whole_seconds(now - begun_s) + " " + wanted + " (" + holders() +
                                  ")");
    }
    const double next_s = std::min(ends_s, warn_s) - now;
    turns_.changed_.wait_for(turns_.mutex_,
                             std::chrono::duration<double>(std::min(next_s, 3600.0)));
  }
  return true;
}

Error Turn::gave_up(const char* wanted, const std::string& holders_then) const {
  return {Code::kDeadlineExceeded, lane_ + ": waited " + whole_seconds(turns_.seconds_max_) + " " +
                                       wanted + " (" + holders_then + ")"};
}

void Turn::enter(State state) {
  state_ = state;
  since_s_ = monotonic_s();
}

Status Turn::share() {
  if (state_ == State::kSharing || state_ == State::kWhole) return {};
  MutexLock lock(turns_.mutex_);
  // A lane that is inside has work to end before another one can have all of the device.
  const bool enters = state_ == State::kOut;
  if (state_ == State::kAlone) {
    turns_.alone_ = false;
    enter(State::kWaiting);
    turns_.changed_.notify_all();
  }
  const auto is_free = [&]() HONE_REQUIRES(turns_.mutex_) {
    return !turns_.alone_ && turns_.alone_waiting_.empty() &&
           !(enters && turns_.whole_waiting_ > 0);
  };
  std::string holders_then;
  if (!wait_for(is_free, kShared, holders_then)) {
    leave_locked();
    return gave_up(kShared, holders_then);
  }
  if (enters) {
    met_ = turns_.inside_++ > 0;
    entered_ = ++turns_.entries_;
  }
  ++turns_.sharing_;
  enter(State::kSharing);
  return {};
}

Status Turn::give_way() {
  if (state_ != State::kSharing) return {};
  {
    MutexLock lock(turns_.mutex_);
    if (turns_.alone_waiting_.empty()) return {};
    --turns_.sharing_;
    enter(State::kWaiting);
    turns_.changed_.notify_all();
  }
  return share();
}

Status Turn::have_alone() {
  if (state_ != State::kSharing) return {};
  MutexLock lock(turns_.mutex_);
  --turns_.sharing_;
  if (turns_.alone_waiting_.empty()) turns_.served_at_s_ = monotonic_s();
  const std::uint64_t ticket = ++turns_.last_ticket_;
  turns_.alone_waiting_.push_back(ticket);
  enter(State::kWaiting);
  turns_.changed_.notify_all();
  const auto is_free = [&]() HONE_REQUIRES(turns_.mutex_) {
    return !turns_.alone_ && turns_.sharing_ == 0 && turns_.alone_waiting_.front() == ticket;
  };
  std::string holders_then;
  const bool served = wait_for(is_free, kAlone, holders_then);
  turns_.alone_waiting_.remove(ticket);
  turns_.served_at_s_ = monotonic_s();
  if (!served) {
    leave_locked();
    return gave_up(kAlone, holders_then);
  }
  turns_.alone_ = true;
  enter(State::kAlone);
  return {};
}

Status Turn::have_whole() {
  if (state_ == State::kWhole) return {};
  leave();
  MutexLock lock(turns_.mutex_);
  ++turns_.whole_waiting_;
  std::string holders_then;
  const auto is_free = [&]() HONE_REQUIRES(turns_.mutex_) { return turns_.inside_ == 0; };
  const bool served = wait_for(is_free, kWhole, holders_then);
  --turns_.whole_waiting_;
  if (!served) {
    turns_.changed_.notify_all();
    return gave_up(kWhole, holders_then);
  }
  ++turns_.inside_;
  entered_ = ++turns_.entries_;
  met_ = false;
  turns_.alone_ = true;
  enter(State::kWhole);
  return {};
}

void Turn::leave() {
  MutexLock lock(turns_.mutex_);
  leave_locked();
}

void Turn::leave_locked() {
  if (state_ == State::kOut) return;
  if (state_ == State::kSharing) --turns_.sharing_;
  if (state_ == State::kAlone || state_ == State::kWhole) turns_.alone_ = false;
  --turns_.inside_;
  enter(State::kOut);
  turns_.changed_.notify_all();
}

bool Turn::is_in_the_way() const {
  MutexLock lock(turns_.mutex_);
  return state_ == State::kSharing && !turns_.alone_waiting_.empty();
}

bool Turn::is_wanted() const {
  MutexLock lock(turns_.mutex_);
  return turns_.whole_waiting_ > 0 ||
         (!turns_.alone_waiting_.empty() && monotonic_s() - turns_.served_at_s_ > kTurnSeconds);
}

bool Turn::beside_others() const {
  MutexLock lock(turns_.mutex_);
  return turns_.inside_ > (state_ == State::kOut ? 0 : 1);
}

bool Turn::met_others() const {
  MutexLock lock(turns_.mutex_);
  return met_ || turns_.entries_ > entered_;
}

void Turn::set_work(std::string work) {
  MutexLock lock(turns_.mutex_);
  work_ = std::move(work);
}

std::string Turn::work() const {
  MutexLock lock(turns_.mutex_);
  return work_;
}

}  // namespace hone
