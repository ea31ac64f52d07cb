// Verdict: what became of a submission, as data. A fault of hone or of the machine is never one; it
// is an Error.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.hpp"
#include "base/result.hpp"
#include "model/value.hpp"
#include "model/work.hpp"

namespace hone {

enum class Outcome {
  kNoCode,       ///< the response held no code
  kRejected,     ///< refused before it was built: too large, binary in source
  kBuildFailed,  ///< the compiler said no
  kCrashed,      ///< a signal, an exit, or a broken promise of the candidate process
  kTimedOut,     ///< over the task's time
  kOutOfMemory,  ///< over the task's memory
  kWrong,        ///< an answer outside the tolerance, or a write outside the outputs
  kCheated,      ///< a measurement that only cheating explains
  kCorrect,      ///< stays the last
};
template <>
struct EnumNames<Outcome> {
  static constexpr std::string_view kKind = "outcome";
  static constexpr std::string_view kNames[] = {"no_code", "rejected",  "build_failed",
                                                "crashed", "timed_out", "out_of_memory",
                                                "wrong",   "cheated",   "correct"};
  static_assert(are_complete(kNames, Outcome::kCorrect));
};
constexpr std::string_view outcome_name(Outcome outcome) { return enum_name(outcome); }
/// invalid_argument if there is none of that name.
Result<Outcome> parse_outcome(std::string_view name);
std::vector<Outcome> all_outcomes();  ///< in the order above

/// How far a submission came. kNone: not said.
enum class VerdictStage { kNone, kResponse, kBuild, kLoad, kCheck, kMeasure, kDone };

template <>
struct EnumNames<VerdictStage> {
  static constexpr std::string_view kKind = "stage";
  static constexpr std::string_view kNames[] = {"",      "response", "build", "load",
                                                "check", "measure",  "done"};
  static_assert(are_complete(kNames, VerdictStage::kDone));
};

/// The worst wrong element of an output.
struct Mismatch {
  std::string tensor;
  std::string shape;   ///< "n=1000", or "hidden": what a hidden shape was is not said
  std::string family;  ///< name of the input family
  std::vector<std::int64_t>
      index;  ///< of the worst element; empty where it would give a hidden shape away
  std::optional<double> got, expected;  ///< no value where the output is too small to show it
  double tolerance = 0;
  std::int64_t wrong = 0, total = 0;  ///< elements; of a hidden shape, thousandths of them
  std::int64_t nans = 0;              ///< NaN where a number was expected
  /// Where no element is too far off, but all are together: the root mean square of the errors, each over the size of
  /// its element and the tensor's scale, and the most that is allowed; else 0.
  double norm = 0, norm_allowed = 0;
};

struct Speedup {
  double value = 0;                ///< baseline time / submission time
  double low = 0, high = 0;        ///< 95 % confidence interval
  double time_us = 0;              ///< per call, the submission
  double baseline_us = 0;          ///< per call, the baseline
  int rounds = 0;                  ///< A·B pairs used
  int calls = 0;                   ///< calls of the entry per round
  std::vector<std::string> flags;  ///< "single_rounds_disagree", "noisy", …
  double floor_us = 0;             ///< of a whole round that does nothing; taken off each
  double marked_us = 0;            ///< by the device's own clock, where that was asked; else 0
};

struct Verdict {
  Outcome outcome = Outcome::kNoCode;
  std::string reason;  ///< one line: "signal SIGSEGV in a check of shape n=1000"
  VerdictStage stage = VerdictStage::kNone;  ///< how far it came
  std::string diagnostics;  ///< the compiler's words, as far as they are about the submission
  std::string signal;       ///< "SIGSEGV", …; empty without one
  std::optional<Mismatch> mismatch;
  std::optional<Speedup> speedup;  ///< for a correct submission that was measured
  std::optional<Work> work;        ///< of a correct module, as far as its process can tell
  /// "queue", "build", "prepare" (reference and baseline), "load", "check", "measure", "total"
  std::map<std::string, double> stage_ms;
  /// The class of cheating that a defence caught: "forbidden_call", …; empty when none did. What
  /// each means, and which ones a mistake can cause too: docs/verdicts.md.
  std::string caught;
  std::string second_look;  ///< "agreed", "disagreed"; empty when there was none
  std::string
      fingerprint;  ///< hardware, driver, toolchain; speedups of different ones are never mixed
  std::string source_hash;  ///< SHA-256 of what was judged

  bool correct() const { return outcome == Outcome::kCorrect; }
};

/// Whether it came past what a compiler is to native code: it was built, and it loaded.
bool was_compiled(const Verdict& verdict);

Value verdict_to_value(const Verdict& verdict);
/// The milliseconds of each stage, by name.
Value stage_ms_to_value(const Verdict& verdict);
Result<Verdict> verdict_from_value(const Value& value);

}  // namespace hone
