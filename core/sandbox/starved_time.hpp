// StarvedTime: time in which a process could not run because of contention for cores or memory, or a pause of the machine.
#pragma once

#include <unordered_map>

#include "sandbox/process_watch.hpp"

namespace hone {

/// Computes the starved time of a process from observations. It uses only the kernel's counters and this
/// process' own clock. A process that sleeps or waits, or whose threads wait for each other, is not starved.
class StarvedAccount {
 public:
  /// `passed_s`, `ran_s`: elapsed and processor time before `first`, which count too.
  void begin(const ProcessSample& first, double passed_s, double ran_s);
  void add(const ProcessSample& seen);
  /// Starved time in seconds. halted_s(): the part in which the machine stood still or waited for memory.
  double seconds() const;
  /// A lower bound of the process' own time in seconds, up to the last observation. It leaves out delays that the
  /// kernel may not have counted yet, and unknown time before the first observation.
  double own_s() const;
  double halted_s() const { return halted_s_; }

 private:
  struct Thread {
    ThreadSample seen;
    double delayed_s = 0;  ///< counted so far: the kernel's run delay, and the wait since then
    double uncounted_s =
        0;  ///< since begin(): neither running nor counted yet; the kernel may count it later
    double pending_s = 0;  ///< the part of it that may be a wait for the next turn
  };
  double delay_of(const ThreadSample& seen, double passed_s);
  double starved_s(double delayed_s) const;

  ProcessSample last_;
  std::unordered_map<pid_t, Thread> threads_;
  double passed_s_ = 0;
  double ran_s_ = 0;      ///< processor time of all threads
  double delayed_s_ = 0;  ///< some thread was ready and had no core
  double pending_s_ = 0;  ///< delay that the kernel may count with the next turn of a thread
  double unknown_s_ = 0;  ///< time before the first observation, neither running nor halted
  double others_s_ = 0;   ///< core time that other processes used on its cores
  double idle_s_ = 0;     ///< idle time of its cores, of each on average
  double halted_s_ = 0;   ///< the machine stood still, or waited for memory
};

/// The same for a watched process. Used by one thread.
///
///   StarvedTime starved(ProcessWatch(pid, Watched::kFirstThread, -1));
///   starved.begin();
///   while (…) starved.sample();        // often; it reads /proc every 25 ms
///   if (starved.own_s() > limit_s) …
class StarvedTime {
 public:
  StarvedTime() = default;  ///< watches no process, so it is never starved
  explicit StarvedTime(ProcessWatch watch) : watch_(std::move(watch)) {}
  void begin();
  void sample();
  double seconds() const { return account_.seconds(); }
  /// A lower bound of the process' own time since begin(); 0 before the first observation. Elapsed time, delays and
  /// processor time are of the same observation, so a limit is right even if this thread had no core, either.
  /// Without a process: elapsed time.
  double own_s() const;
  double halted_s() const { return account_.halted_s(); }
  /// Processor time since begin().
  double ran_s() const { return watch_.watches() ? watch_.ran_s() - ran_before_s_ : 0; }

 private:
  ProcessWatch watch_;
  StarvedAccount account_;
  double begun_s_ = 0, sampled_at_s_ = 0, ran_before_s_ = 0;
  bool sampled_ = false;  ///< since begin()
};

/// Whether the machine was short of memory, even without the memory of the process in question, so that
/// processes waited.
class MemoryWait {
 public:
  MemoryWait();
  /// Call after the process has ended. True if processes waited for more than a quarter of the time since the
  /// constructor.
  bool was_long() const;

 private:
  double begun_s_, stalled_s_;
};

}  // namespace hone
