// Flags of a speedup: doubts about its measurement. A speedup with any flag proves only its lower end.
#pragma once

#include <string_view>

namespace hone::flags {

// docs/verdicts.md explains each to users, with its bounds.
/// The interval is wide.
inline constexpr char kNoisy[] = "noisy";
/// The clock can barely distinguish a round from an empty one.
inline constexpr char kBelowResolution[] = "below_resolution";
/// Empty rounds differ: the machine is busy.
inline constexpr char kFloorUnsteady[] = "floor_unsteady";
/// Rounds of one call show less than long rounds.
inline constexpr char kSingleRoundsDisagree[] = "single_rounds_disagree";
/// Time ran out before all rounds were timed.
inline constexpr char kCutShort[] = "cut_short";
/// The submission's process had failed in an earlier attempt.
inline constexpr char kRetried[] = "retried";
/// The confirmation run measured a different speedup.
inline constexpr char kSecondLookDisagrees[] = "second_look_disagrees";
/// Heat or power limited the device.
inline constexpr char kThrottled[] = "throttled";
/// Baseline and submission together need more memory than the device has.
inline constexpr char kMemoryShort[] = "memory_short";
/// The baseline timed before and after the submission differs.
inline constexpr char kBaselineDrifted[] = "baseline_drifted";

/// The flags that a verdict can have.
inline constexpr std::string_view kAll[] = {
    kNoisy,   kBelowResolution,     kFloorUnsteady, kSingleRoundsDisagree, kCutShort,
    kRetried, kSecondLookDisagrees, kThrottled,     kMemoryShort,          kBaselineDrifted};

/// From a judge only: the machine was too noisy to measure the speedup. The host measures again, so no verdict has this flag.
inline constexpr char kMachineNoisy[] = "machine_noisy";

}  // namespace hone::flags
