// Verdict: the result of evaluating a submission, as data. A fault of hone or of the machine is an Error
// instead.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
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

/// The last stage that a submission reached. kNone: unknown.
enum class VerdictStage { kNone, kResponse, kBuild, kLoad, kCheck, kMeasure, kDone };

template <>
struct EnumNames<VerdictStage> {
  static constexpr std::string_view kKind = "stage";
  static constexpr std::string_view kNames[] = {"",      "response", "build", "load",
                                                "check", "measure",  "done"};
  static_assert(are_complete(kNames, VerdictStage::kDone));
};

/// Tables list them in this order, the web page in reverse. A new outcome is a value here with its row in kOutcomes, the code
/// that chooses it, its template in envs/kernel_refine/templates, its name in clients/python/src/hone/types.py, and, with
/// kByStage, in kBuilt of core/include/hone/plugin/reward.hpp.
/// evaluate/verdicts.cpp chooses outcomes of one evaluation; final_verdict() in evaluate/confirmation.cpp turns a correct verdict
/// into another. All else follows from the row: each outcome but `correct` counts as not correct, for rewards, clients and
/// reports. tests/repo/lists_test.py reports missing names, also on pages. A colour (core/web/page/style.css) is optional.
enum class Outcome {
  kNoCode,
  kRejected,
  kBuildFailed,
  kCrashed,
  kTimedOut,
  kOutOfMemory,
  kWrong,
  kCheated,
  kCorrect,  ///< must stay the last one
};

struct OutcomeRow {
  Outcome outcome;
  std::string_view name;  ///< in the journal, on the wire, in rewards and templates
  std::string_view meaning;
  VerdictStage stage;  ///< of the sample in `hone verdicts`; a submission can end at another stage
  /// For rewards. kByStage: a submission that got past its build counts as built; plugin::Turn::built() must list the name.
  enum Built { kNeverBuilt, kByStage } built;
};
inline constexpr OutcomeRow kOutcomes[] = {
    {Outcome::kNoCode, "no_code", "the response contains no code", VerdictStage::kResponse,
     OutcomeRow::kNeverBuilt},
    {Outcome::kRejected, "rejected",
     "refused by a rule: a source too long or binary, no plan or no own kernel where one is "
     "required",
     VerdictStage::kResponse, OutcomeRow::kNeverBuilt},
    {Outcome::kBuildFailed, "build_failed", "the compiler reported errors", VerdictStage::kBuild,
     OutcomeRow::kNeverBuilt},
    {Outcome::kCrashed, "crashed",
     "the process ended by a signal or an exit, raised an exception, or broke its protocol",
     VerdictStage::kCheck, OutcomeRow::kByStage},
    {Outcome::kTimedOut, "timed_out", "exceeded the task's time limit", VerdictStage::kCheck,
     OutcomeRow::kByStage},
    {Outcome::kOutOfMemory, "out_of_memory", "exceeded the task's memory limit",
     VerdictStage::kCheck, OutcomeRow::kByStage},
    {Outcome::kWrong, "wrong", "an output is outside its tolerance, or other memory was written",
     VerdictStage::kCheck, OutcomeRow::kByStage},
    {Outcome::kCheated, "cheated", "a measurement that only cheating can explain",
     VerdictStage::kMeasure, OutcomeRow::kNeverBuilt},
    {Outcome::kCorrect, "correct", "all outputs are within their tolerances", VerdictStage::kDone,
     OutcomeRow::kByStage},
};

template <>
struct EnumNames<Outcome> {
  static constexpr std::string_view kKind = "outcome";
  static constexpr auto kNames = [] {
    std::array<std::string_view, std::size(kOutcomes)> names{};
    for (const OutcomeRow& row : kOutcomes) names[static_cast<std::size_t>(row.outcome)] = row.name;
    return names;
  }();
  static_assert(std::size(kOutcomes) == static_cast<std::size_t>(Outcome::kCorrect) + 1);
  static_assert(
      [] {
        for (std::size_t i = 0; i < std::size(kOutcomes); ++i)
          if (kOutcomes[i].outcome != static_cast<Outcome>(i)) return false;
        return true;
      }(),
      "the rows have the order of the enum");
};
constexpr std::string_view outcome_name(Outcome outcome) { return enum_name(outcome); }
/// invalid_argument if no outcome has this name.
Result<Outcome> parse_outcome(std::string_view name);

/// The element of an output with the largest error.
struct Mismatch {
  std::string tensor;
  std::string shape;   ///< "n=1000"; "hidden" for a hidden shape, which is not disclosed
  std::string family;  ///< name of the input family
  std::vector<std::int64_t>
      index;  ///< of the worst element; empty if it would reveal a hidden shape
  std::optional<double> got, expected;  ///< empty if the output is too small to show them
  double tolerance = 0;
  std::int64_t wrong = 0, total = 0;  ///< numbers of elements; for a hidden shape, thousandths
  std::int64_t nans = 0;              ///< NaN where a number was expected
  /// Set if each element is within its tolerance but the tensor as a whole is not: the root mean square of
  /// the errors, each relative to its element and the tensor's scale, and its limit. Else 0.
  double norm = 0, norm_allowed = 0;
};

struct Speedup {
  double value = 0;                ///< baseline time / submission time
  double low = 0, high = 0;        ///< 95 % confidence interval
  double time_us = 0;              ///< per call, the submission
  double baseline_us = 0;          ///< per call, the baseline
  int rounds = 0;                  ///< long rounds of the submission
  int calls = 0;                   ///< calls of the entry per round
  std::vector<std::string> flags;  ///< of model/flags.hpp
  double floor_us = 0;             ///< time of an empty round, which is subtracted from each round
  double marked_us = 0;  ///< time of a call by the device's own clock, if requested; else 0

  bool has_flag(std::string_view flag) const {
    return std::find(flags.begin(), flags.end(), flag) != flags.end();
  }
  void add_flag(std::string_view flag) {
    if (!has_flag(flag)) flags.emplace_back(flag);
  }
};

/// The configuration that an autotuned kernel of a recorded plan ran, as reported by the module's processes.
struct ChosenConfiguration {
  std::string kernel;       ///< its name, of printable ASCII
  std::string key;          ///< arguments that it is tuned for: "n: 1024"
  std::string parameters;   ///< "BLOCK: 128, num_warps: 4"
  std::int64_t number = 1;  ///< of the configuration, from 1
  std::int64_t count = 0;   ///< of configurations that the kernel could run
};

struct Verdict {
  Outcome outcome = Outcome::kNoCode;
  std::string reason;  ///< one line: "signal SIGSEGV in a check of shape n=1000"
  VerdictStage stage = VerdictStage::kNone;  ///< the last stage that was reached
  std::string diagnostics;  ///< compiler output, limited to messages about the submission
  std::string signal;       ///< "SIGSEGV", …; empty if no signal ended the process
  std::optional<Mismatch> mismatch;
  std::optional<Speedup> speedup;  ///< of a correct submission that was timed; of no other outcome
  std::optional<Work> work;        ///< of a correct module, as reported by its process
  /// "queue", "build", "prepare" (reference and baseline), "load", "check", "measure", "total"
  std::map<std::string, double> stage_ms;
  /// The class of cheating that a defence caught, "forbidden_call", …; empty if none did. docs/verdicts.md
  /// explains each class, and names those that an honest mistake can cause.
  std::string caught;
  /// For a correct, timed submission of an episode with feedback_profile: auto. Sentences that say where its time goes,
  /// with a number each, the most important first.
  std::vector<std::string> findings;
  /// Of a module on a device: "device", the time of its recorded plan; "call", a call of its Python. Else empty.
  std::string timing;
  std::vector<ChosenConfiguration> configurations;  ///< of a correct module with a recorded plan
  std::string not_recorded;  ///< why a module has no recorded plan: "a value was read back (…:31)"
  std::string second_look;   ///< "agreed", "disagreed"; empty without a confirmation run
  std::string
      fingerprint;  ///< hardware, driver, toolchain; speedups with different fingerprints are not comparable
  std::string source_hash;  ///< SHA-256 of what was judged

  bool correct() const { return outcome == Outcome::kCorrect; }
};

/// Whether the submission was built and loaded, by its stage. For a module, loading is what compilation is for native code.
bool was_compiled(const Verdict& verdict);

Value verdict_to_value(const Verdict& verdict);
/// The milliseconds of each stage, by name.
Value stage_ms_to_value(const Verdict& verdict);
Result<Verdict> verdict_from_value(const Value& value);

}  // namespace hone
