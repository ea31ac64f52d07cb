#include "evaluate/memory_ledger.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "evaluate/memory_budget.hpp"

namespace hone {

std::size_t MemoryLedger::add_lane(std::string name) {
  MutexLock lock(mutex_);
  lanes_.push_back({std::move(name)});
  return lanes_.size() - 1;
}

void MemoryLedger::set_bytes(std::uint64_t bytes) {
  MutexLock lock(mutex_);
  bytes_ = bytes;
  changed_.notify_all();
}

/// Whether a claim fits next to `held`, the claims of other lanes. A claim beyond the total is reduced to the
/// total.
bool MemoryLedger::has_room(std::uint64_t held, std::uint64_t bytes) const {
  return bytes_ == 0 || (held <= bytes_ && std::min(bytes, bytes_) <= bytes_ - held);
}

bool MemoryLedger::fits(std::size_t lane, std::uint64_t bytes) const {
  std::uint64_t others = 0;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (i != lane) others += lanes_[i].bytes;
  }
  return has_room(others, bytes);
}

bool MemoryLedger::is_first(std::size_t lane) const {
  return waiting_.empty() || waiting_.front().lane == lane;
}

/// Whether the lane is first in the queue, or the first one would have to wait in any case.
bool MemoryLedger::may_go(std::size_t lane) const {
  if (is_first(lane)) return true;
  const Wait& first = waiting_.front();
  std::uint64_t others = 0;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (i != first.lane && i != lane && lanes_[i].works && !lanes_[i].passed)
      others += lanes_[i].bytes;
  }
  return !has_room(others, first.bytes);
}

void MemoryLedger::grant(std::size_t lane, std::uint64_t bytes) {
  // The lane's memory stays claimed until it has dropped its tasks and called settle().
  lanes_[lane].bytes = bytes_ == 0 ? 0 : std::max(lanes_[lane].bytes, std::min(bytes, bytes_));
  lanes_[lane].works = true;
  lanes_[lane].passed = !is_first(lane);
}

void MemoryLedger::stop_waiting(std::size_t lane) {
  waiting_.remove_if([&](const Wait& wait) { return wait.lane == lane; });
  changed_.notify_all();
}

bool MemoryLedger::try_claim(std::size_t lane, std::uint64_t bytes, bool again) {
  MutexLock lock(mutex_);
  if (lanes_[lane].yields || !(again || may_go(lane)) || !fits(lane, bytes)) return false;
  grant(lane, bytes);
  return true;
}

/// Whether it fits once idle lanes have dropped their tasks.
bool MemoryLedger::could_fit(std::size_t lane, std::uint64_t bytes) const {
  std::uint64_t others = 0;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (i != lane && lanes_[i].works) others += lanes_[i].bytes;
  }
  return has_room(others, bytes);
}

bool MemoryLedger::could_claim(std::size_t lane, std::uint64_t bytes) const {
  MutexLock lock(mutex_);
  return may_go(lane) && could_fit(lane, bytes);
}

Result<std::vector<std::size_t>> MemoryLedger::claim(std::size_t lane, std::uint64_t bytes,
                                                     const std::function<bool()>& is_over) {
  const double begun_s = monotonic_s(), ends_s = begun_s + seconds_max_;
  double warn_s = begun_s + warn_seconds_;
  MutexLock lock(mutex_);
  waiting_.push_back({lane, bytes});
  std::vector<std::size_t> taken;
  while (lanes_[lane].yields || !may_go(lane) || !could_fit(lane, bytes)) {
    if (is_over != nullptr && is_over()) {
      stop_waiting(lane);
      return unavailable("cancelled");
    }
    const double now = monotonic_s();
    const std::string waited = lanes_[lane].name + ": waited " +
                               std::to_string(std::lround(now - begun_s)) + " s for " +
                               (bytes < bytes_ ? gib_text(bytes) + " of device memory ("
                                               : "all of the device's memory (") +
                               holders(lane) + ")";
    if (now >= ends_s) {
      stop_waiting(lane);
      return Error{Code::kDeadlineExceeded, waited};
    }
    if (now >= warn_s) {
      log_warning("evaluate", waited);
      warn_s = now + warn_seconds_;
    }
    const double next_s = std::min(ends_s, warn_s) - now;
    changed_.wait_for(mutex_, std::chrono::duration<double>(std::min(next_s, 3600.0)));
  }
  for (std::size_t i = 0; i < lanes_.size() && !fits(lane, bytes); ++i) {
    if (i == lane || lanes_[i].works || lanes_[i].bytes == 0) continue;
    lanes_[i].bytes = 0;
    lanes_[i].yields = true;
    taken.push_back(i);
  }
  grant(lane, bytes);
  stop_waiting(lane);
  return taken;
}

void MemoryLedger::free_again(const std::vector<std::size_t>& lanes) {
  MutexLock lock(mutex_);
  for (const std::size_t lane : lanes) lanes_[lane].yields = false;
  changed_.notify_all();
}

void MemoryLedger::wake() {
  MutexLock lock(mutex_);
  changed_.notify_all();
}

void MemoryLedger::settle(std::size_t lane, std::uint64_t bytes) {
  MutexLock lock(mutex_);
  lanes_[lane].bytes = std::min(lanes_[lane].bytes, bytes);
  changed_.notify_all();
}

void MemoryLedger::rest(std::size_t lane, std::uint64_t bytes) {
  MutexLock lock(mutex_);
  lanes_[lane].bytes = std::min(lanes_[lane].bytes, bytes);
  lanes_[lane].works = false;
  changed_.notify_all();
}

bool MemoryLedger::is_awaited() const {
  MutexLock lock(mutex_);
  return !waiting_.empty();
}

std::uint64_t MemoryLedger::claimed() const {
  MutexLock lock(mutex_);
  std::uint64_t all = 0;
  for (const Lane& lane : lanes_) all += lane.bytes;
  return all;
}

/// For log lines: "lane 1 uses 12.5 GiB, lane 3, idle, keeps 4.0 GiB".
std::string MemoryLedger::holders(std::size_t lane) const {
  std::string text;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (i == lane || lanes_[i].bytes == 0) continue;
    text += (text.empty() ? "" : ", ") + lanes_[i].name +
            (lanes_[i].works ? " uses " : ", idle, keeps ") + gib_text(lanes_[i].bytes);
  }
  return text.empty() ? "no other lane holds memory" : text;
}

}  // namespace hone
