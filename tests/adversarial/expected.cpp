// Compares a verdict with the expected one.
#include "adversarial/expected.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "model/caught.hpp"

namespace hone::test {

std::string text_of(const Result<Verdict>& verdict) {
  if (!verdict) return "no verdict, but an error: " + verdict.error().message;
  std::string text = std::string(outcome_name(verdict->outcome)) + ": " + verdict->reason;
  if (!verdict->diagnostics.empty()) text += "\n" + verdict->diagnostics;
  if (const auto& m = verdict->mismatch) {
    text += " in " + std::string(enum_name(verdict->stage)) + ": " + std::to_string(m->wrong) +
            " of " + std::to_string(m->total) + ", family " + m->family + ", got " +
            std::to_string(m->got.value_or(0)) + ", expected " +
            std::to_string(m->expected.value_or(0));
  }
  if (verdict->speedup) {
    text += " speedup " + std::to_string(verdict->speedup->value);
    for (const std::string& flag : verdict->speedup->flags) text += " " + flag;
  }
  return text;
}

bool has_gained(const Verdict& verdict, const Expected& stopped) {
  if (!verdict.correct()) return false;
  const auto& allowed = stopped.outcomes;
  if (std::find(allowed.begin(), allowed.end(), Outcome::kCorrect) == allowed.end()) return true;
  if (!verdict.speedup) return false;
  const double paid =
      verdict.speedup->flags.empty() ? verdict.speedup->value : verdict.speedup->low;
  return paid > stopped.speedup_max || paid > stopped.paid_max;
}

bool needs_quiet_cores(const Expected& expected) {
  constexpr Outcome kFound[] = {Outcome::kWrong, Outcome::kCrashed, Outcome::kBuildFailed,
                                Outcome::kOutOfMemory};
  const std::string_view measured[] = {caught::kWrongWhenTimed, caught::kSingleRounds,
                                       caught::kSecondLook, caught::kBeyondPhysics,
                                       caught::kLateOutputs};
  return expected.unscored ||
         std::count(std::begin(measured), std::end(measured), expected.caught) != 0 ||
         !std::all_of(expected.outcomes.begin(), expected.outcomes.end(), [&](Outcome outcome) {
           return std::count(std::begin(kFound), std::end(kFound), outcome) != 0;
         });
}

std::string difference(const Result<Verdict>& verdict, const Expected& expected) {
  if (expected.unscored) {
    const bool as_expected =
        !verdict && verdict.error().message.find(expected.words) != std::string::npos;
    return as_expected
               ? ""
               : "expected no verdict, but '" + expected.words + "', found " + text_of(verdict);
  }
  if (!verdict) return text_of(verdict);
  const auto& outcomes = expected.outcomes;
  if (std::find(outcomes.begin(), outcomes.end(), verdict->outcome) == outcomes.end()) {
    return "expected " + std::string(outcome_name(outcomes.front())) + ", found " +
           text_of(verdict);
  }
  if ((verdict->reason + verdict->diagnostics).find(expected.words) == std::string::npos) {
    return "expected '" + expected.words + "', found " + text_of(verdict);
  }
  if (!expected.caught.empty() && verdict->caught != expected.caught) {
    return "expected '" + expected.caught + "' to be caught, found '" + verdict->caught +
           "': " + text_of(verdict);
  }
  if (verdict->outcome != Outcome::kCorrect) return "";
  if (!verdict->speedup) return expected.timed ? "no speedup: " + text_of(verdict) : "";
  const double speedup = verdict->speedup->value;
  if (speedup < expected.speedup_min || speedup > expected.speedup_max) {
    return "expected a speedup from " + std::to_string(expected.speedup_min) + " to " +
           std::to_string(expected.speedup_max) + ", found " + text_of(verdict);
  }
  const auto& flags = verdict->speedup->flags;
  const double paid = flags.empty() ? speedup : verdict->speedup->low;
  if (paid > expected.paid_max) {
    return "expected at most " + std::to_string(expected.paid_max) + " to be paid, found " +
           std::to_string(paid) + ", " + text_of(verdict);
  }
  if (verdict->speedup->rounds > expected.rounds_max) {
    return "expected at most " + std::to_string(expected.rounds_max) + " rounds, found " +
           std::to_string(verdict->speedup->rounds) + ", " + text_of(verdict);
  }
  if (!expected.flag.empty() &&
      std::find(flags.begin(), flags.end(), expected.flag) == flags.end()) {
    return "expected the flag " + expected.flag + ", found " + text_of(verdict);
  }
  return "";
}

}  // namespace hone::test
