// Converts the end of a build, a dry run or a judgement to an outcome and a reason for the author.
#include "evaluate/verdicts.hpp"

#include <csignal>
#include <cstdio>
#include <string_view>

#include "evaluate/diagnostics.hpp"
#include "evaluate/reruns.hpp"
#include "model/caught.hpp"
#include "model/flags.hpp"

namespace hone {
namespace {

std::string as_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

Verdict ended(Outcome outcome, const Judgement& judgement, std::string reason) {
  Verdict verdict;
  verdict.outcome = outcome;
  const Place place = judgement.where.place;
  verdict.stage = place == Place::kLoading       ? VerdictStage::kLoad
                  : place == Place::kMeasurement ? VerdictStage::kMeasure
                                                 : VerdictStage::kCheck;
  verdict.reason =
      std::move(reason) + (place == Place::kLoading ? " while loading" : in_where(judgement.where));
  return verdict;
}

Verdict verdict_of_death(const Judgement& judgement, const ProcessExit& exit) {
  if (exit.out_of_memory) return ended(Outcome::kOutOfMemory, judgement, "over the task's memory");
  if (exit.signal == SIGXCPU)
    return ended(Outcome::kTimedOut, judgement, "over the processor time");
  if (exit.signal != 0) {
    Verdict verdict = ended(Outcome::kCrashed, judgement, "signal " + signal_name(exit.signal));
    verdict.signal = signal_name(exit.signal);
    if (exit.signal == SIGSYS) verdict.caught = caught::kForbiddenCall;
    return verdict;
  }
  Verdict verdict = ended(Outcome::kCrashed, judgement,
                          "the process exited with code " + std::to_string(exit.exit_code));
  if (exit.exit_code == 0) verdict.caught = caught::kEarlyExit;
  return verdict;
}

}  // namespace

Verdict verdict_of_plan(const Error& error, const std::string& source_name) {
  Verdict verdict;
  verdict.outcome = Outcome::kBuildFailed;
  verdict.stage = VerdictStage::kBuild;
  verdict.reason = "its plan cannot be read";
  verdict.diagnostics = source_name + ":" + error.message + "\n";
  return verdict;
}

std::optional<Verdict> verdict_of_build(const Built& built, const std::string& source_name,
                                        const EvaluatorOptions& options) {
  if (built.ok) return std::nullopt;
  Verdict verdict;
  verdict.outcome = Outcome::kBuildFailed;
  verdict.stage = VerdictStage::kBuild;
  Diagnostics diagnostics = submission_diagnostics(built.diagnostics, source_name);
  verdict.diagnostics = std::move(diagnostics.text);
  if (built.starved) {
    verdict.reason = "the compiler did not finish in time, though it used less than " +
                     as_text(options.build_seconds) + " s of processor time";
  } else if (built.doubtful) {
    verdict.reason = "the compiler failed in every attempt without an error message for the source";
  } else if (built.failure == BuildFailure::kTimedOut) {
    verdict.reason = "the compiler needed more than " + as_text(options.build_seconds) +
                     " s of processor time, or waited for twice as long for something else";
  } else if (built.failure == BuildFailure::kKilled ||
             built.failure == BuildFailure::kOutOfMemory) {
    verdict.reason = "the compiler was ended: it needed more than " +
                     std::to_string(options.build_memory_mb) + " MB";
  } else {
    verdict.reason = diagnostics.of_linker          ? "the linker refused it"
                     : source_name.ends_with(".py") ? "its source was refused"
                                                    : "the compiler refused it";
  }
  return verdict;
}

std::optional<Verdict> verdict_of_recording(const std::string& not_recorded,
                                            const EvaluatorOptions& options) {
  if (not_recorded.empty() || options.modules != "plan") return std::nullopt;
  Verdict verdict;
  verdict.outcome = Outcome::kRejected;
  verdict.stage = VerdictStage::kBuild;
  verdict.reason = "it has no recorded plan: " + not_recorded;
  return verdict;
}

std::optional<Verdict> verdict_of_dry_run(const Built& built) {
  if (built.dry_run == DryRunFailure::kNone) return std::nullopt;
  if (built.dry_run == DryRunFailure::kBuild || built.dry_run == DryRunFailure::kLink) {
    Verdict verdict;
    verdict.outcome = Outcome::kBuildFailed;
    verdict.stage = VerdictStage::kBuild;
    verdict.reason = built.dry_run == DryRunFailure::kLink ? "the linker refused its extension"
                                                           : "the compiler refused its extension";
    verdict.diagnostics = built.raised;
    return verdict;
  }
  const bool loaded = built.dry_run == DryRunFailure::kRun;
  const Where where = loaded ? Where{Place::kCheck, "the only shape"} : Where{Place::kLoading};
  return *verdict_of_judgement({{loaded ? Ending::kException : Ending::kRefused,
                                 Culprit::kSubmission,
                                 where,
                                 built.raised,
                                 {}},
                                std::nullopt});
}

Result<Verdict> verdict_of_judgement(const DeviceResult& result) {
  const Judgement& j = result.judgement;
  if (j.ending == Ending::kDone) return j.verdict;
  if (j.culprit != Culprit::kSubmission || j.ending == Ending::kFault ||
      j.ending == Ending::kStarved) {
    return unavailable((j.culprit == Culprit::kNone ? "judge" : std::string(enum_name(j.culprit))) +
                       ": " + std::string(enum_name(j.ending)) + in_where(j.where) +
                       (j.message.empty() ? "" : ": " + j.message));
  }
  switch (j.ending) {
    case Ending::kTimedOut:
      return ended(Outcome::kTimedOut, j, j.message.empty() ? "over the task's time" : j.message);
    case Ending::kOutOfMemory:
      return ended(Outcome::kOutOfMemory, j, j.message);
    case Ending::kException:
      // The text is the submission's own, and could reveal a hidden shape.
      if (j.where.hidden) return ended(Outcome::kCrashed, j, "uncaught exception");
      return ended(Outcome::kCrashed, j, "uncaught exception '" + j.message + "'");
    case Ending::kNotLaunchable:
      // The message names the shape. That of a hidden shape must not reach the client.
      return ended(Outcome::kCrashed, j,
                   j.where.hidden ? "a launch that the device cannot start" : j.message);
    case Ending::kRefused:
      return ended(Outcome::kCrashed, j, "the process reported a failure: " + j.message);
    case Ending::kBrokenReport: {
      Verdict verdict = ended(Outcome::kCrashed, j, "the process reported a failure: " + j.message);
      verdict.caught = caught::kBrokenReport;
      return verdict;
    }
    default:
      break;
  }
  if (!result.exit)
    return unavailable("the submission's process ended, and its exit status is unknown");
  if (result.exit->killed_by_machine)
    return unavailable(
        "the submission's process ended by SIGKILL while the machine was out of memory");
  if (killed_without_cause(result))
    return unavailable(
        "the submission's process ended by SIGKILL; no out-of-memory kill was counted");
  return verdict_of_death(j, *result.exit);
}

/// Rationale: a finding of the dry run alone is reported, and rejects no submission: it has no values, and may go another way. But a
/// module whose kernels are not seen on the device must show them in the dry run.
Verdict with_policy(const Task& task, Verdict verdict, const std::optional<Witnessed>& dry_run) {
  if (verdict.work) verdict.work->dry_run = dry_run;
  if (!verdict.correct() || task.own_kernels == "optional") return verdict;
  const auto torch_alone = [](const Witnessed& work) {
    return " no kernel of its own: torch's operators did the work (" + operator_words(work) + ")";
  };
  bool rejected = task.own_kernels == "required";
  if (!verdict.work) {
    if (dry_run && !dry_run->kernels.empty()) return verdict;
    verdict.reason = "its own kernels were not seen: the call that was watched failed";
  } else if (verdict.work->only_torch()) {
    verdict.reason = "it started" + torch_alone(*verdict.work);
  } else if (dry_run && dry_run->only_torch()) {
    verdict.reason = "without a device it started" + torch_alone(*dry_run);
    rejected = false;
  } else {
    return verdict;
  }
  if (!rejected) return verdict;
  verdict.outcome = Outcome::kRejected;
  verdict.stage = VerdictStage::kCheck;
  verdict.speedup.reset();
  return verdict;
}

Result<Verdict> unless_noise(Verdict verdict) {
  if (!verdict.speedup) return verdict;
  const Speedup& speedup = *verdict.speedup;
  if (!speedup.has_flag(flags::kMachineNoisy)) return verdict;
  char words[280];
  std::snprintf(
      words, sizeof words,
      "the machine is too noisy to measure: the speedup is between %.2g and %.2g, and the "
      "baseline's own rounds vary; reduce the load of the machine, or raise "
      "evaluate.max_interval",
      speedup.low, speedup.high);
  return unavailable(words);
}

Verdict verdict_of_provocation(const DeviceResult& result) {
  if (result.exit && result.exit->signal != 0)
    return verdict_of_death(result.judgement, *result.exit);
  if (result.judgement.ending == Ending::kOutOfMemory)
    return ended(
        Outcome::kOutOfMemory, result.judgement,
        "it leaves the reference too little device memory, twice, which a known answer does not (" +
            result.judgement.message + ")");
  Verdict verdict =
      ended(Outcome::kCrashed, result.judgement,
            "the process could not be judged, twice (" + result.judgement.message + ")");
  verdict.caught = caught::kProvokedFault;
  return verdict;
}

Verdict verdict_of_provocation(const std::string& message) {
  DeviceResult result;
  result.judgement.message = message;
  return verdict_of_provocation(result);
}

}  // namespace hone
