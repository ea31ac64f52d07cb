// Adds up the time in which a watched process was starved.
#include "sandbox/starved_time.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"

namespace hone {
namespace {

// Time between two observations (s). Longer than two ticks of the kernel's coarsest counter (10 ms), by which
// a running thread is told from a waiting one.
constexpr double kSampleSeconds = 0.025;
// Callers call sample() at least this often. Any time beyond it counts as time in which the machine stood
// still: all processes were stopped, a virtual machine was paused, or the watching process had no core
// either.
constexpr double kPauseSeconds = 0.25;

constexpr double kMemoryShare = 0.25;  // of a build's time; a longer wait for memory is a fault

double beyond_a_pause(double passed_s, double ran_s) {
  return std::max(passed_s - std::max(kPauseSeconds, ran_s), 0.0);
}

}  // namespace

void StarvedAccount::begin(const ProcessSample& first, double passed_s, double ran_s) {
  *this = {};
  last_ = first;
  passed_s_ = passed_s;
  ran_s_ = ran_s;
  halted_s_ = beyond_a_pause(passed_s, ran_s);
  unknown_s_ = std::max(passed_s - ran_s - halted_s_, 0.0);
  for (const ThreadSample& thread : first.threads)
    threads_[thread.thread] = {thread, thread.delayed_s, std::max(passed_s - ran_s, 0.0), 0};
}

/// The delay of a thread since the last observation. Rationale: the kernel adds a delay only when the thread
/// gets its core, perhaps seconds later. If a thread was ready at both observations and the kernel has
/// counted nothing, it waited all the time. A delay that is counted late may have begun in an earlier
/// interval.
double StarvedAccount::delay_of(const ThreadSample& seen, double passed_s) {
  const auto [at, is_new] = threads_.try_emplace(seen.thread, Thread{seen, 0, 0, 0});
  Thread& thread = at->second;
  const ThreadSample before = std::exchange(thread.seen, seen);
  const bool waits = !is_new && seen.ready && before.ready && seen.turns == before.turns &&
                     seen.ran_s == before.ran_s && seen.used_ms == before.used_ms &&
                     seen.delayed_s == before.delayed_s;
  const double delayed_s = waits ? thread.delayed_s + passed_s : seen.delayed_s;
  const double more = delayed_s - std::exchange(thread.delayed_s, delayed_s);
  const double ran_s = std::clamp(seen.ran_s - before.ran_s, 0.0, passed_s);
  thread.uncounted_s += passed_s - ran_s;
  const double counted_s = std::clamp(more, 0.0, thread.uncounted_s);
  thread.uncounted_s -= counted_s;
  if (!seen.ready)
    thread.pending_s = 0;
  else if (!waits)  // it had a core, so the kernel has counted delays of earlier intervals
    thread.pending_s =
        std::max(passed_s - ran_s - std::max(counted_s - thread.pending_s, 0.0), 0.0);
  return counted_s;
}

/// Rationale: threads of one process also delay each other. So seconds() counts the delays of several threads only up
/// to a limit.
void StarvedAccount::add(const ProcessSample& seen) {
  const double passed_s = std::max(seen.at_s - last_.at_s, 0.0);
  // The time of a tree can miss a process that ends at that moment, until the next sample.
  const double ran_to_s = std::max(seen.ran_s, last_.ran_s);
  const double ran_s = std::min(ran_to_s - last_.ran_s, std::max(seen.cores, 1) * passed_s);
  double delayed_s = 0;
  pending_s_ = 0;
  for (const ThreadSample& thread : seen.threads) {
    delayed_s = std::max(delayed_s, delay_of(thread, passed_s));
    pending_s_ = std::max(pending_s_, threads_[thread.thread].pending_s);
  }
  double halted_s = beyond_a_pause(passed_s, ran_s);
  if (seen.is_short && last_.is_short)
    halted_s = std::max(halted_s, std::min(seen.stalled_s - last_.stalled_s, passed_s));
  if (seen.cores > 0 && seen.cores == last_.cores) {
    halted_s = std::max(halted_s, (seen.stolen_s - last_.stolen_s) / seen.cores);
    others_s_ += seen.cores * passed_s - (seen.idle_s - last_.idle_s) - ran_s;
    idle_s_ += std::max(seen.idle_s - last_.idle_s, 0.0) / seen.cores;
  }
  passed_s_ += passed_s;
  ran_s_ += ran_s;
  // Delays that are counted late, each of another thread, may have been at the same time.
  delayed_s_ = std::min(delayed_s_ + delayed_s, passed_s_);
  halted_s_ += std::max(halted_s - delayed_s, 0.0);
  last_ = seen;
  last_.ran_s = ran_to_s;
}

/// Rationale: if a process has more threads than cores, some threads are always delayed while others run. So processor time
/// divided by the number of cores always counts as the process' own time. Its threads delay each other only while one of them
/// runs. So a longer delay has another cause, even if cores are idle: a CPU quota of the control group, for example. Other
/// processes delay it only while no core is idle, unless it keeps its threads on one core: that is its own doing.
double StarvedAccount::starved_s(double delayed_s) const {
  const double while_none_idle_s = std::min(others_s_, passed_s_ - idle_s_);
  const double not_by_own_threads_s = std::max({while_none_idle_s, delayed_s - ran_s_, 0.0});
  const double by_others_s =
      last_.one_thread ? delayed_s : std::min(delayed_s, not_by_own_threads_s);
  const double own_s = last_.one_thread ? 0 : ran_s_ / std::max(last_.cores, 1);
  return std::min(by_others_s + halted_s_, std::max(passed_s_ - own_s, 0.0));
}

double StarvedAccount::seconds() const { return starved_s(delayed_s_); }

double StarvedAccount::own_s() const {
  const double cores = last_.one_thread ? 1 : std::max(last_.cores, 1);
  return std::max(passed_s_ - starved_s(delayed_s_ + pending_s_) - unknown_s_, ran_s_ / cores);
}

void StarvedTime::begin() {
  begun_s_ = sampled_at_s_ = monotonic_s();
  sampled_ = false;
  account_ = {};
  ran_before_s_ = watch_.ran_s();
}

/// Rationale: most rounds end before the first observation is due, so they cost nothing.
void StarvedTime::sample() {
  if (!watch_.watches() || monotonic_s() - sampled_at_s_ < kSampleSeconds) return;
  const ProcessSample seen = watch_.sample();
  if (sampled_)
    account_.add(seen);
  else
    account_.begin(seen, seen.at_s - begun_s_, seen.ran_s - ran_before_s_);
  sampled_at_s_ = seen.at_s;
  sampled_ = true;
}

double StarvedTime::own_s() const {
  if (!watch_.watches()) return monotonic_s() - begun_s_;
  return sampled_ ? account_.own_s() : 0;
}

MemoryWait::MemoryWait() : begun_s_(monotonic_s()), stalled_s_(memory_stall_s()) {}

bool MemoryWait::was_long() const {
  const double passed_s = monotonic_s() - begun_s_;
  return is_short_of_memory(0) && memory_stall_s() - stalled_s_ > kMemoryShare * passed_s;
}

}  // namespace hone
