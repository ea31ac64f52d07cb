// ProcessPool: processes of a lane that wait for work, and processes that were ended and may still hold the device.
#pragma once

#include <atomic>
#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "evaluate/build_pool.hpp"
#include "evaluate/options.hpp"
#include "evaluate/player_process.hpp"
#include "evaluate/zygotes.hpp"
#include "sandbox/launcher.hpp"

namespace hone {

/// Processes that read hardware counters.
struct PlayerCounts {
  std::size_t started = 0;  ///< so far
  std::size_t used = 0;     ///< of these, those that were ready when a profile needed one
  std::size_t waiting = 0;  ///< now; without those that have ended
};

/// Whether the process has ended, or ends within this time.
bool has_ended(const Process& process, int wait_ms);

/// One thread at a time.
///
/// Rationale: making or ending a context disturbs what is measured on the device. So contexts are made and ended while
/// no lane measures: the lane waits for both before it measures, and before it leaves the device to other lanes.
class ProcessPool {
 public:
  static constexpr double kOpenSeconds = 20;  ///< for a process to open its device
  static constexpr double kGoneSeconds = 20;  ///< for an ended process to give its device back

  /// kReplayer: an interpreter with torch that replays recorded plans. It runs no Python of a submission.
  /// kPlayer: a process that reads hardware counters (player_process.hpp).
  enum class Kind { kCandidate, kReplayer, kModule, kTrustedModule, kPlayer };
  /// A process that waits for its setup.
  struct Standby {
    std::unique_ptr<Process> process;
    UniqueFd socket;
    bool is_opening = false;  ///< it opens its device, or has opened it
    bool is_ready = false;    ///< kPlayer: as Player::is_ready
  };

  /// `launcher`, `zygotes` and `options` outlive it. `lane`: its name in the log.
  ProcessPool(Launcher& launcher, Zygotes& zygotes, const EvaluatorOptions& options,
              DeviceSpec spec, std::string lane);

  /// From now on, processes do not see `other_nodes`, and find their device under number 0. No effect below isolation level
  /// `private`.
  void see_only_own(std::vector<std::string> other_nodes);

  Result<Standby> start(Kind kind);
  /// One that waits, or a new one.
  Result<Standby> take(Kind kind);
  void refill(Kind kind);
  /// Starts processes of the kinds that run short. `opens_at_once`: also of kinds that open their device when they start.
  void start_missing(bool opens_at_once);
  /// Has the waiting processes open their device.
  void open_ahead();
  /// Returns once no waiting process makes a context. Those that take longer than kOpenSeconds, all together, are ended.
  void wait_until_open();
  void end_standby();

  /// Starts a process that reads counters, unless a usable one waits. Returns before it has opened the device. No effect if
  /// counters cannot be read.
  ///
  /// `wanted`: a profile needs it. Otherwise it has no effect after a process has failed by itself, until another one has opened
  /// the device. Rationale: if CUPTI does not support the device, each start would delay measurements for nothing.
  void make_player_ready(bool wanted);
  /// Whether counters can be read here.
  bool can_count() const;
  /// The process that waits, or a new one that has not opened the device. It serves one submission, and the caller ends it.
  Result<Player> take_player();
  /// Records that a process that reads counters works, or how it failed by itself. Logs a failure unless the last one failed, too.
  void note_player(const Status& works);
  /// Without Defence::kOwnPlayer: the process waits again.
  void return_player(Player player);
  void end_player();
  /// [any thread]
  PlayerCounts player_counts() const;

  /// Ends the process; await_ended() waits for it.
  void end(std::unique_ptr<Process> process);
  void end(std::vector<std::unique_ptr<Process>> processes);
  /// Waits for all ended processes, for kGoneSeconds in all.
  void await_ended();
  /// The ended processes, for another lane that waits for them.
  std::vector<std::unique_ptr<Process>> hand_over_ended();
  void take_over_ended(std::vector<std::unique_ptr<Process>> ended);

 private:
  /// `made` processes are started once fewer than `least` are left. Rationale: contexts that are made together take half the time, and
  /// nothing is measured meanwhile.
  struct Stock {
    std::size_t least, made;
  };
  Result<Standby> start_candidate();
  Result<Standby> start_interpreter(Zygotes::Use use);
  Result<Standby> start_replayer();
  Result<Standby> spawn_interpreter(SpawnRequest spawn, const char* script,
                                    const std::vector<std::string>& arguments, Zygotes::Use use);
  Result<Standby> start_counting();
  void drop_useless_players();
  bool is_open(Kind kind, Standby& one, double seconds);
  void count_waiting();
  Stock stock_of(Kind kind) const;
  bool opens_when_asked(Kind kind) const;

  Launcher& launcher_;
  Zygotes& zygotes_;
  const EvaluatorOptions& options_;
  const DeviceSpec spec_;
  std::string number_;                       ///< of the device, in its processes
  const std::vector<int> cores_of_modules_;  ///< on a device
  std::vector<std::string> other_nodes_;
  const std::string lane_;
  std::map<Kind, std::list<Standby>> standby_;
  std::vector<std::unique_ptr<Process>> ended_;
  std::string player_library_;  ///< file_version() of the waiting player's library
  bool player_failed_ = false;  ///< see note_player()
  std::atomic<std::size_t> players_started_{0}, players_used_{0};
  mutable Mutex waiting_mutex_;
  std::vector<UniqueFd> waiting_ HONE_GUARDED_BY(waiting_mutex_);  ///< pidfds of waiting players
};

/// The process for code that is not a module's Python.
inline ProcessPool::Kind kind_without_python(const Built& built, Mode mode) {
  return replays_operators(built, mode) ? ProcessPool::Kind::kReplayer
                                        : ProcessPool::Kind::kCandidate;
}

}  // namespace hone
