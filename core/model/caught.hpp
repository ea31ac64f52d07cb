// Classes of cheating that a defence catches: in a verdict, and counted per client.
#pragma once

#include <string_view>

namespace hone::caught {

// docs/verdicts.md says what each means, and which ones an honest mistake can cause too.
inline constexpr char kWroteOutside[] = "wrote_outside";
inline constexpr char kChangedInputs[] = "changed_inputs";
inline constexpr char kWrongWhenHidden[] = "wrong_when_hidden";
inline constexpr char kWrongWhenTimed[] = "wrong_when_timed";
inline constexpr char kSingleRounds[] = "single_rounds";
inline constexpr char kBeyondPhysics[] = "beyond_physics";
inline constexpr char kLateOutputs[] = "late_outputs";
inline constexpr char kForbiddenCall[] = "forbidden_call";
inline constexpr char kEarlyExit[] = "early_exit";
inline constexpr char kBrokenReport[] = "broken_report";
inline constexpr char kProvokedFault[] = "provoked_fault";
inline constexpr char kSecondLook[] = "second_look";

inline constexpr std::string_view kAll[] = {kWroteOutside,   kChangedInputs, kWrongWhenHidden,
                                            kWrongWhenTimed, kSingleRounds,  kBeyondPhysics,
                                            kLateOutputs,    kForbiddenCall, kEarlyExit,
                                            kBrokenReport,   kProvokedFault, kSecondLook};

}  // namespace hone::caught
