// Runner: the judge's hold on one candidate process: set it up, give it orders, stop the clock.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "channel/control.hpp"
#include "judge/defences.hpp"
#include "judge/layout.hpp"
#include "model/task.hpp"
#include "plugin/backend.hpp"
#include "sandbox/freezer.hpp"

namespace hone {

/// What the host hands over of a process that waits to be set up.
struct RunnerHandles {
  UniqueFd socket, artifact, pidfd;
  UniqueFd freeze, frozen_events;  ///< none with ptrace
  pid_t pid = 0;
};

/// Why a round did not end as it should. `kFault` is ours; all others are the candidate's doing.
enum class Ending { kDone, kDied, kTimedOut, kOutOfMemory, kException, kRefused, kFault };

struct Round {
  Ending ending = Ending::kDone;
  double seconds = 0;   ///< from thaw to confirmed freeze (or from order to done, unfrozen)
  std::string message;  ///< an exception's words, or what failed
};

struct RunnerOptions {
  bool spin = true;  ///< wait by spinning, on a core of the judge's own; else asleep
  std::int64_t memory_bytes_max = 0;  ///< resident; 0: not watched
  double seconds_max = 0;             ///< of all its rounds and its loading together; 0: no limit
  Defences defences;
};

/// One thread. The process itself is the host's to kill; a Runner that goes only closes its side.
class Runner {
 public:
  static Result<std::unique_ptr<Runner>> create(const Backend& backend, hone_device* device,
                                                RunnerHandles handles, std::uint64_t arena_bytes,
                                                RunnerOptions options);
  ~Runner();

  /// Sends the setup; returns once the artifact is loaded. kFault until it is sealed, the
  /// candidate's doing after.
  Round set_up(const Task& task, const std::string& entry, const std::string& second_entry,
               const std::vector<int>& cores, double timeout_s);

  /// The arena as this process sees it.
  char* arena() const { return arena_base_; }
  std::uint64_t arena_bytes() const { return arena_bytes_; }

  Status freeze();
  Status thaw();
  bool frozen() const { return frozen_; }

  /// Where the next round's arguments go: values of call i.
  std::array<std::uint64_t, HONE_ARGUMENTS_MAX>& values(std::size_t call);
  /// A round under the clock. The process must be frozen and is frozen again afterwards.
  Round timed_round(Order order, std::size_t calls, double timeout_s);
  /// A round without: the process may be running and goes on.
  Round plain_round(Order order, std::size_t calls, double timeout_s);
  /// Makes guard pages inaccessible, or accessible again.
  Round set_guards(const std::vector<Guard>& guards, bool on);

 private:
  Runner() = default;
  std::uint32_t give(Order order, std::size_t calls, bool spin);
  Round wait_done(std::uint32_t round, double timeout_s, bool spin);
  Round receive_report(Report expected, double timeout_s);
  double left_of(double timeout_s) const;
  bool ended() const;
  bool over_memory() const;

  const hone_backend_factory* backend_ = nullptr;
  hone_buffer* arena_ = nullptr;
  char* arena_base_ = nullptr;
  std::uint64_t arena_bytes_ = 0;
  RunnerHandles handles_;
  UniqueFd orders_fd_, answers_fd_, arena_fd_;
  Orders* orders_ = nullptr;
  const Answers* answers_ = nullptr;
  std::unique_ptr<Freezer> freezer_;
  RunnerOptions options_;
  bool frozen_ = false;
  double spent_s_ = 0;  ///< by the process, of options_.seconds_max
};

}  // namespace hone
