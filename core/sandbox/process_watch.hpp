// ProcessWatch: the kernel's figures of another process' threads, processor time and cores.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <ctime>
#include <optional>
#include <string_view>
#include <vector>

#include "base/unique_fd.hpp"

namespace hone {

/// Counters of a thread at one moment.
struct ThreadSample {
  pid_t thread = 0;
  bool ready = false;         ///< runs, or waits for a core
  double ran_s = 0;           ///< processor time, from schedstat
  double delayed_s = 0;       ///< run delay: ready without a core, up to when it last got one
  std::uint64_t turns = 0;    ///< number of times it got a core
  std::uint64_t used_ms = 0;  ///< processor time, from stat
};

/// Counters of a process at one moment.
struct ProcessSample {
  double at_s = 0;  ///< CLOCK_MONOTONIC
  std::vector<ThreadSample> threads;
  bool one_thread = true;  ///< a single thread is watched, so threads cannot delay each other
  double ran_s = 0;        ///< processor time of all its threads, ended ones included
  int cores = 0;           ///< cores that it may use; 0: their use by other processes is unknown
  double idle_s = 0;       ///< idle time of those cores since boot
  double stolen_s =
      0;  ///< time of those cores since boot that the hypervisor gave to other machines
  double stalled_s = 0;   ///< time in which some process of this machine waited for memory
  bool is_short = false;  ///< the machine is short of memory, even without the process' own
};

/// Which threads are watched.
enum class Watched {
  kFirstThread,  ///< the first thread of a process that can have no other, or whose code is hone's
  kThreads,      ///< all threads of a process that cannot start another one
  kTree,         ///< all threads of the process and its descendants
};

/// One thread. A figure that the kernel does not count is 0.
class ProcessWatch {
 public:
  ProcessWatch() = default;  ///< watches no process
  /// `freeze_fd`: cgroup.freeze of its control group, borrowed; -1: none. Without it, the processor time of a tree lacks that
  /// of processes whose parents ended first.
  ProcessWatch(pid_t process, Watched watched, int freeze_fd);
  bool watches() const { return process_ > 0; }
  ProcessSample sample() const;
  /// Processor time of all threads, in seconds.
  double ran_s() const;

 private:
  void add_threads(pid_t process, std::vector<ThreadSample>& to) const;
  double tree_ran_s(pid_t process) const;

  pid_t process_ = 0;
  Watched watched_ = Watched::kFirstThread;
  clockid_t clock_{};    ///< its processor time
  UniqueFd group_time_;  ///< cpu.stat of its control group, for a tree
};

/// The children of all threads of a process, as listed in /proc.
std::vector<pid_t> children_of(pid_t pid);

/// Seconds that processes of this machine have waited for memory; 0 where the kernel does not count them.
double memory_stall_s();
/// Whether the machine is short of memory, even without the `own` bytes of a process.
bool is_short_of_memory(std::int64_t own);

/// A thread, from the text of its stat and schedstat.
ThreadSample thread_from(pid_t thread, std::string_view stat, std::string_view schedstat);
/// Processor time of a process and of its children that have ended, from the text of its stat, in seconds. `ticks`: clock ticks
/// per second.
double tree_seconds(std::string_view stat, double ticks);
/// The cores that a process may use; 0: the calling thread. Empty: unknown.
std::vector<int> cores_of(pid_t process);

/// Seconds of a set of cores together.
struct CoresSeen {
  double idle_s = 0, stolen_s = 0;
};
/// Parses /proc/stat; `ticks`: clock ticks per second. nullopt if a core is missing.
std::optional<CoresSeen> cores_from(std::string_view stat, const std::vector<int>& cores,
                                    double ticks);
/// The total of the line "some" in the text of /proc/pressure/memory, in seconds; 0 without such a line.
double stalled_seconds(std::string_view pressure);
/// Whether less than a thirty-second of the machine's memory is available besides `own` bytes, from the text of
/// /proc/meminfo.
bool is_short_of_memory(std::string_view meminfo, std::int64_t own);

}  // namespace hone
