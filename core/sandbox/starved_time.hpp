// StarvedTime: time in which a process could not go on for want of a core, of memory or of the whole machine.
#pragma once

#include <unordered_map>

#include "sandbox/process_watch.hpp"

namespace hone {

/// From what was seen of a process now and then to the time in which it was starved. Only what the kernel or this process'
/// own clock shows counts. A process that sleeps, waits for something, or whose threads wait for each other is not starved.
class StarvedAccount {
 public:
  /// `passed_s`, `ran_s`: of the time before `first` that counts, too.
  void begin(const ProcessSeen& first, double passed_s, double ran_s);
  void add(const ProcessSeen& seen);
  /// In seconds: all of it; and of that, how long the machine stood still or waited for memory.
  double seconds() const;
  double halted_s() const { return halted_s_; }

 private:
  struct Thread {
    ThreadSeen seen;
    double delayed_s =
        0;  ///< of delayed_s and of the time it has waited since, what has been counted
  };
  double delay_of(const ThreadSeen& seen, double passed_s);

  ProcessSeen last_;
  std::unordered_map<pid_t, Thread> threads_;
  double passed_s_ = 0;
  double delayed_s_ = 0;  ///< some thread was ready and had no core
  double others_s_ = 0;   ///< others had its cores, in seconds of one core
  double halted_s_ = 0;   ///< the machine stood still, or waited for memory
};

/// The same of a process that is watched. One thread.
///
///   StarvedTime starved(ProcessWatch(pid, Watched::kFirstThread, -1));
///   starved.begin();
///   while (…) starved.look();        // often; it reads /proc every few ms
///   if (passed_s - starved.seconds() > limit_s) …
class StarvedTime {
 public:
  StarvedTime() = default;  ///< of no process: it is never starved
  explicit StarvedTime(ProcessWatch watch) : watch_(std::move(watch)) {}
  void begin();
  void look();
  double seconds() const { return account_.seconds(); }
  double halted_s() const { return account_.halted_s(); }
  /// Processor time since begin().
  double ran_s() const { return watch_.watches() ? watch_.ran_s() - ran_before_s_ : 0; }

 private:
  ProcessWatch watch_;
  StarvedAccount account_;
  double begun_s_ = 0, looked_s_ = 0, ran_before_s_ = 0;
  bool looked_ = false;  ///< since begin()
};

/// Whether the machine has kept its processes waiting for memory, of which it was short without the one in question.
class MemoryWait {
 public:
  MemoryWait();
  /// Once the process is gone: whether that was a quarter of the time since then, or more.
  bool was_long() const;

 private:
  double begun_s_, stalled_s_;
};

}  // namespace hone
