// CompilerTime: a compiler's time by the clock, and whether it was starved of its core meanwhile. kill_group(): ends a compiler.
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
///   if (time.is_starved()) …          // other processes had its core; else it waited for something itself
class CompilerTime {
 public:
  explicit CompilerTime(double seconds_max) : seconds_max_(seconds_max) {}

  int pause_ms() const {
    const double left_s = std::max(seconds_max_ - passed_s_, 0.0);
    return static_cast<int>(1e3 * std::min(left_s, kLookSeconds)) + 1;
  }

  /// Whether its time is over. `quiet`: no output since the last call. Rationale: on a machine with a free core, the limit
  /// of processor time ends a compiler before a third of its time by the clock has passed, unless the compiler waits.
  bool is_over(bool quiet) {
    const double now_s = seconds_of(CLOCK_MONOTONIC);
    // A longer pause means that all processes were stopped; the excess does not count.
    passed_s_ += std::min(now_s - looked_s_, kLookSeconds + kPauseSeconds);
    looked_s_ = now_s;
    if (passed_s_ >= seconds_max_) return true;
    if (!quiet) return false;
    look_for_core();
    return passed_s_ > kShareIfIdle * seconds_max_ && !is_starved();
  }

  /// The clock that the limit counts (s).
  static double now_s() { return seconds_of(CLOCK_MONOTONIC); }

  /// Whether probes of a few ms of work took far longer by the clock than in processor time.
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
  double core_s_ = 0, clock_s_ = 0;  ///< of the probes
};

/// Kills a process group. In a jail the filter refuses signals to a group (EPERM): then only the leader is killed, and the
/// jail ends the rest. Outside a jail nothing else would end them.
inline void kill_group(pid_t leader) {
  if (kill(-leader, SIGKILL) != 0) kill(leader, SIGKILL);
}

}  // namespace hone::plugin
