// Defences: each by name, so that a test build can switch one off and show that the attack it stops
// then succeeds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace hone {

enum class Defence : unsigned {
  kFreeze,           ///< a submission stands still while inputs are written and outputs are read
  kFreezeBetween,    ///< it also does while the baseline is measured
  kFreshInputs,      ///< every round has inputs that were never seen before
  kPoison,           ///< outputs are overwritten before every round
  kShuffle,          ///< calls come in a secret order
  kTimedAnswers,     ///< the outputs of timed rounds are checked like any other
  kSingleRounds,     ///< rounds of one call must show the same speedup
  kCanaries,         ///< bytes around tensors must stay
  kGuards,           ///< tensors end at an inaccessible page
  kInputsUnchanged,  ///< inputs must stay as they were
  kHiddenShapes,     ///< shapes are checked that nobody was told
  kFamilies,         ///< more than one kind of input is checked
  kSeccomp,          ///< a candidate's system calls are an allow-list
  kLandlock,         ///< a candidate can open nothing
  kMemoryLimit,      ///< a candidate's memory is limited
  kPhysics,          ///< a figure that no core could reach is refused
  kSecondLook,       ///< what looks too good is judged again, with other secrets
  kProvenFaults,  ///< a death without a cause is the submission's, unless the kernel shows who did it
  kThreadMemory,   ///< memory is looked for in other threads where the first one has exited
  kMixedFamilies,  ///< the calls of timed rounds have inputs of all families
  kFixedPairs,  ///< the submission's times choose neither how many pairs there are nor which count
  kOwnWaits,    ///< time in which a submission sleeps or waits counts towards its limit
  // Of devices with memory of their own:
  kWitness,      ///< the clock stops at outputs that stay as they were seen
  kOwnRound,     ///< of checks that lie in memory together, outputs change in their own round alone
  kOwnHeap,      ///< what uses a context's heap runs in a process of its own
  kStreamWait,   ///< a submission's round is done when the device says so
  kScrub,        ///< the memory of a process that is kept is overwritten between two submissions
  kKnownAnswer,  ///< such a process must know an answer of ours between two submissions
  // Of modules there, whose own host code runs beside the device:
  kWithhold,       ///< their inputs are put in place under the clock
  kAlone,          ///< the baseline is timed while the submission stands still, or is not there
  kStandStill,     ///< its process is frozen then, and the device does nothing of its
  kSecondWitness,  ///< what its rehearsal started stands beside what its process says it started
  kSpikes,         ///< inputs have structure along every axis, and buffers of zeros get values
  // Of neighbours, that keep a machine busy:
  kFloorInPairs,  ///< rounds that do nothing are timed among the pairs, and the least of them counts
  kBuilderTime,  ///< a compiler's limit is processor time; one that was kept from running is started again
};

/// All of them stand, unless a test build says otherwise.
class Defences {
 public:
  bool holds([[maybe_unused]] Defence defence) const {
#if defined(HONE_TEST_BUILD)
    return (off_ >> static_cast<unsigned>(defence) & 1u) == 0;
#else
    return true;
#endif
  }
  /// By their names ("freeze", "fresh_inputs", …). Any name is an error in what is shipped.
  static Result<Defences> without(const std::vector<std::string>& names);
  std::vector<std::string> off() const;

 private:
  std::uint64_t off_ = 0;
};

}  // namespace hone
