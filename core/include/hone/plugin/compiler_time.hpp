// CompilerTime: how long a compiler has had by the clock, and whether the machine kept it from its core meanwhile; how one ends.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <algorithm>
#include <ctime>

namespace hone::plugin {

/// The limit by the clock of a compiler whose processor time is limited, too (RLIMIT_CPU). One thread.
///
///   CompilerTime time(seconds_max);
///   do { … wait for at most time.pause_ms() … } while (!time.is_over(said_nothing));
///   if (time.is_starved()) …          // others had its core; else it waited for something of its own
class CompilerTime {
 public:
  explicit CompilerTime(double seconds_max) : seconds_max_(seconds_max) {}

  int pause_ms() const {
    const double left_s = std::max(seconds_max_ - passed_s_, 0.0);
    return static_cast<int>(1e3 * std::min(left_s, kLookSeconds)) + 1;
  }

  /// Whether its time is over. `quiet`: it has said nothing since the last call. Rationale: on a machine that has a core for
  /// it, its limit of processor time ends a compiler before a third of its time by the clock is over, unless it waits.
  bool is_over(bool quiet) {
    const double now_s = seconds_of(CLOCK_MONOTONIC);
    // What a pause takes beyond this, all processes were stopped for.
    passed_s_ += std::min(now_s - looked_s_, kLookSeconds + kPauseSeconds);
    looked_s_ = now_s;
    if (passed_s_ >= seconds_max_) return true;
    if (!quiet) return false;
    look_for_core();
    return passed_s_ > kShareIfIdle * seconds_max_ && !is_starved();
  }

  /// Whether a little work of this process took far longer by the clock than it took of a core.
  bool is_starved() const { return core_s_ > 0 && clock_s_ > kStarved * core_s_; }

 private:
  static constexpr double kLookSeconds = 0.4, kPauseSeconds = 1, kShareIfIdle = 1.0 / 3;
  static constexpr double kWorkSeconds = 3e-3, kStarved = 1.5;

  static double seconds_of(clockid_t clock) {
    timespec t{};
    clock_gettime(clock, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  }

  void look_for_core() {
    const double clock = seconds_of(CLOCK_MONOTONIC), core = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    double used_s = 0;
    while (used_s < kWorkSeconds) used_s = seconds_of(CLOCK_THREAD_CPUTIME_ID) - core;
    core_s_ += used_s;
    clock_s_ += seconds_of(CLOCK_MONOTONIC) - clock;
  }

  const double seconds_max_;
  double looked_s_ = seconds_of(CLOCK_MONOTONIC), passed_s_ = 0;
  double core_s_ = 0, clock_s_ = 0;  ///< of the work in between
};

/// Kills the leader of a process group with all of the group. In a jail the filter refuses signals to a group (EPERM): then
/// the leader is killed, and the jail ends the rest. Outside one, nothing else would end them.
inline void kill_group(pid_t leader) {
  if (kill(-leader, SIGKILL) != 0) kill(leader, SIGKILL);
}

}  // namespace hone::plugin
