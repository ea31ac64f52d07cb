// Runner: something that holds one artifact and an arena, and runs rounds of calls under a clock.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "channel/control.hpp"

namespace hone {

/// Why a round did not end as it should. `kFault` is ours; all others are the candidate's doing.
enum class Ending { kDone, kDied, kTimedOut, kOutOfMemory, kException, kRefused, kFault };

/// What a candidate's report is that cannot be read, or was not due.
inline constexpr char kBrokenReport[] = "a report that is none";

struct Round {
  Ending ending = Ending::kDone;
  double seconds = 0;   ///< from thaw to confirmed freeze (or from order to done, unfrozen)
  std::string message;  ///< an exception's words, or what failed
};

/// The nice value of judges and candidates, where we may set it: what is measured must not wait for
/// a busy machine.
inline constexpr int kMeasurePriority = -15;

/// The arguments of one call: offsets into the arena, and scalars' bits.
using RoundValues = std::array<std::uint64_t, HONE_ARGUMENTS_MAX>;

/// Two kinds: ProcessRunner, a candidate in its jail, which is what judges use; and LocalRunner, a
/// call in this process without any walls, against which benchmarks hold what the walls cost. One
/// thread.
class Runner {
 public:
  virtual ~Runner() = default;

  /// The arena as this process sees it.
  virtual char* arena() const = 0;
  virtual std::uint64_t arena_bytes() const = 0;

  virtual Status freeze() = 0;
  virtual Status thaw() = 0;

  /// Where the next round's arguments go: values of call i.
  virtual RoundValues& values(std::size_t call) = 0;
  /// A round under the clock. The process must be frozen and is frozen again afterwards.
  virtual Round timed_round(Order order, std::size_t calls, double timeout_s) = 0;
  /// A round without: the process may be running and goes on.
  virtual Round plain_round(Order order, std::size_t calls, double timeout_s) = 0;
  /// The pages that are inaccessible in the rounds that follow, in place of those before.
  virtual void set_guards(const std::vector<Guard>& guards) = 0;
};

}  // namespace hone
