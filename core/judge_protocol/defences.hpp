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
  kFreeze,           ///< a submission is frozen while inputs are written and outputs are read
  kFreezeBetween,    ///< it is also frozen while the baseline is measured
  kFreshInputs,      ///< every round has new inputs
  kPoison,           ///< outputs are overwritten before every round
  kShuffle,          ///< calls come in a secret order
  kTimedAnswers,     ///< the outputs of timed rounds are checked like any other
  kSingleRounds,     ///< rounds of one call must show the same speedup
  kCanaries,         ///< bytes around tensors must stay
  kGuards,           ///< tensors end at an inaccessible page
  kInputsUnchanged,  ///< inputs must stay as they were
  kHiddenShapes,     ///< shapes are checked that are never disclosed
  kFamilies,         ///< more than one kind of input is checked
  kSeccomp,          ///< a candidate's system calls are an allow-list
  kLandlock,         ///< a candidate can open nothing
  kMemoryLimit,      ///< a candidate's memory is limited
  kPhysics,          ///< a speedup that no core could reach is refused
  kSecondLook,       ///< a suspiciously fast submission gets a confirmation run, with other secrets
  kProvenFaults,  ///< a process that ends without a cause is the submission's failure, unless the kernel shows another cause
  kThreadMemory,  ///< memory is counted by other threads if the first one has exited
  kMixedFamilies,  ///< the calls of timed rounds have inputs of all families
  kFixedPairs,  ///< the submission's times choose neither how many pairs there are nor which count
  kOwnWaits,    ///< time in which a submission sleeps or waits counts towards its limit
  // Devices with memory of their own:
  kWitness,      ///< the clock stops at outputs that stay as they were seen
  kOwnRound,     ///< outputs of a check may change only in their own round
  kOwnHeap,      ///< an artifact that uses a context's heap runs in a process of its own
  kStreamWait,   ///< a round ends when the device reports its stream as done
  kScrub,        ///< the memory of a kept process is overwritten between two submissions
  kKnownAnswer,  ///< a kept process must compute a known answer between two submissions
  // Modules with host code on a device:
  kWithhold,       ///< their inputs are written after the clock has started
  kAlone,          ///< the baseline is timed while the submission is frozen or gone
  kStandStill,     ///< the submission is frozen then, and the device does no other work
  kSecondWitness,  ///< kernels of its dry run are reported with those that its process claims
  kSpikes,         ///< inputs have structure along every axis, and buffers of zeros get values
  // Machines with other load:
  kFloorInPairs,  ///< empty rounds are timed among the pairs, and the least of them counts
  kBuilderTime,   ///< a compiler's limit is processor time; a starved one is started again
  // Tools:
  kOwnReport,  ///< a device's sanitizer writes its report to a file, apart from the output of kernels
  kOwnPlayer,  ///< a process that reads hardware counters serves one submission
};

/// All are on, except those that a test build switches off.
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
