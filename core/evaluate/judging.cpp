#include "evaluate/judging.hpp"

#include <string>
#include <utility>

#include "base/clock.hpp"
#include "base/crypto.hpp"
#include "base/log.hpp"
#include "evaluate/diagnostics.hpp"
#include "evaluate/dry_run.hpp"
#include "evaluate/tools.hpp"
#include "evaluate/verdicts.hpp"
#include "judge/fill.hpp"
#include "model/flags.hpp"

namespace hone {
namespace {

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// The result of an evaluation, for the log.
std::string text_of(const Evaluation& evaluation, const Result<Verdict>& scored) {
  if (!evaluation.result) return evaluation.result.error().message;
  const Judgement& judged = evaluation.result->judgement;
  if (judged.ending == Ending::kDone)
    return scored ? std::string(outcome_name(scored->outcome)) +
                        (scored->reason.empty() ? "" : ", " + scored->reason)
                  : scored.error().message;
  return std::string(enum_name(judged.ending)) + in_where(judged.where) +
         (judged.message.empty() ? "" : ": " + judged.message);
}

void log_rerun(const DeviceJob& job, const History& history, const Decision& decision,
               const std::string& text) {
  const std::string line = "task " + job.task->id + ": evaluation " +
                           std::to_string(history.evaluations) + " is followed by another (" +
                           std::string(enum_name(decision.reason)) + "): " + text;
  decision.reason < Reason::kNoise ? log_info("evaluate", line) : log_warning("evaluate", line);
}

/// The configurations that a process reported, with the plan's kernel names, keys and parameters. Empty if the report
/// does not fit the plan.
std::vector<ChosenConfiguration> named(const RecordedPlan& plan,
                                       const std::vector<ChosenConfiguration>& reported) {
  if (reported.size() != plan.tuned.size()) return {};
  std::vector<ChosenConfiguration> chosen;
  for (std::size_t i = 0; i < reported.size(); ++i) {
    const RecordedPlan::TunedKernel& kernel = plan.tuned[i];
    const auto number = static_cast<std::size_t>(reported[i].number);
    const std::vector<std::string>& configurations = kernel.configurations;
    if (number > configurations.size()) return {};
    chosen.push_back({kernel.name, kernel.key, configurations[number - 1], reported[i].number,
                      static_cast<std::int64_t>(configurations.size())});
  }
  return chosen;
}

}  // namespace

History Judging::begin_run(RunKind run, Mode mode) const {
  History history =
      hone::begin_run(run, mode, options_.measure.defences.holds(Defence::kProvenFaults));
  history.may_leave_plan = options_.modules == "auto";
  return history;
}

std::optional<Result<Verdict>> Judging::judge(Device& device, Job& job) {
  const Submission& s = job.submission;
  Ended ended = run(device, job_of(job, RunKind::kFirst), begin_run(RunKind::kFirst, job.mode));
  job.has_begun = job.has_begun || ended.history.has_begun || ended.last.circumstances.has_begun;
  if (ended.decision.next == Next::kWithoutPlan) {
    job.not_recorded = "its plan was not replayed: " +
                       (ended.scored ? ended.scored->reason : ended.scored.error().message);
    return std::nullopt;
  }
  const bool kept_process = ended.last.circumstances.kept_process;
  const bool confirms = ended.decision.next == Next::kConfirm;
  const std::string doubt = ended.doubt;
  Result<Verdict> first = verdict_of_run(device, job, std::move(ended));
  if (!first) return first;
  std::optional<Verdict> confirmed;
  if (confirms) {
    job.times.second_look_s = monotonic_s();
    Ended confirmation = run(device, job_of(job, RunKind::kConfirmation),
                             begin_run(RunKind::kConfirmation, job.mode));
    Result<Verdict> second = verdict_of_run(device, job, std::move(confirmation));
    if (!second) return Result<Verdict>(second.error().in("confirmation run"));
    confirmed = std::move(*second);
  }
  Verdict verdict = final_verdict(std::move(*first), std::move(confirmed), kept_process);
  if (confirms) {
    const std::string words = "episode " + s.episode + ", client '" + s.client + "', task " +
                              s.task->id + ": " + doubt + "; a confirmation run " +
                              verdict.second_look;
    const bool agreed = verdict.second_look == "agreed";
    agreed ? log_info("evaluate", words) : log_warning("evaluate", words + ": " + verdict.reason);
  }
  // A profile is not scored, so it must not raise the threshold of scored submissions.
  if (!job.tool && options_.measure.defences.holds(Defence::kSecondLook))
    suspicions_.remember(*s.task, verdict);
  return Result<Verdict>(std::move(verdict));
}

/// Evaluates until the rules end the run.
Judging::Ended Judging::run(Device& device, DeviceJob job, History history) const {
  const std::uint64_t seed = job.seed;
  const bool brings_code = may_bring_code(first_line(job.built->artifact));
  for (;;) {
    job.isolation = history.isolation;
    if (history.changes_inputs) job.seed = derive_seed(seed, "alone") >> 1;
    if (!job.keeps_lock && job.progress) job.progress(JudgeStage::kPrepare);
    Evaluation evaluation = device.run(job);
    Result<Verdict> scored = this->scored(job, evaluation);
    Finding finding = finding_of(evaluation, scored, brings_code);
    finding.is_hopeless = finding.is_hopeless || (job.over != nullptr && *job.over);
    std::string doubt =
        this->doubt(device, *job.task, scored, evaluation.circumstances.kept_process);
    finding.is_too_good = !doubt.empty();
    const Decision decision = decide(history, finding);
    if (decision.next == Next::kWithoutPlan)
      log_rerun(job, history, decision, text_of(evaluation, scored));
    if (decision.next != Next::kRerun)
      return {std::move(evaluation), std::move(scored), finding, decision, history,
              std::move(doubt)};
    log_rerun(job, history, decision, text_of(evaluation, scored));
    if (decision.task_is_large) device.memory().note_short(*job.task);
    job.keeps_lock = decision.keeps_lock;
    history = rerun(history, finding, decision);
  }
}

/// The verdict of this evaluation, or the reason why it cannot be scored.
Result<Verdict> Judging::scored(const DeviceJob& job, const Evaluation& evaluation) const {
  if (!evaluation.result) return evaluation.result.error();
  HONE_ASSIGN(Verdict verdict, verdict_of_judgement(*evaluation.result));
  HONE_ASSIGN(verdict, unless_noise(std::move(verdict)));
  // Any submission can report configurations, but only a recorded plan has them.
  const std::vector<ChosenConfiguration> reported = std::exchange(verdict.configurations, {});
  // Only modules are traced, because only they can call code of others.
  if (job.mode == Mode::kRecordedModule) {
    if (verdict.correct()) verdict.work = Work{job.built->plan->work};
    verdict = with_policy(*job.task, std::move(verdict), std::nullopt);
    if (verdict.correct()) verdict.configurations = named(*job.built->plan, reported);
    return verdict;
  }
  if (!is_module(job.mode)) return verdict;
  const bool has_dry_run = options_.measure.defences.holds(Defence::kSecondWitness);
  return with_policy(*job.task, std::move(verdict),
                     has_dry_run ? job.built->seen_in_dry_run : std::nullopt);
}

/// The reason for a confirmation run, for the log; empty: none.
std::string Judging::doubt(Device& device, const Task& task, const Result<Verdict>& scored,
                           bool kept_process) const {
  if (!scored || !options_.measure.defences.holds(Defence::kSecondLook)) return "";
  return suspicions_.doubt(task, *scored, bytes_per_second_max(device.facts(), task, options_),
                           kept_process);
}

/// Rationale: if a submission fails in every attempt while a known answer is judged correct, the submission
/// caused the fault. A speedup measured after a failure of the submission's process is flagged; otherwise a
/// submission could fail until its measurement is lucky.
Result<Verdict> Judging::verdict_of_run(Device& device, const Job& job, Ended ended) {
  if (job.over) return unavailable("ended early");
  const Decision& decision = ended.decision;
  const Result<DeviceResult>& result = ended.last.result;
  if (decision.next == Next::kFault) return ended.scored.error();
  if (decision.next == Next::kAskKnownAnswer) {
    log_warning("evaluate", "task " + job.submission.task->id +
                                ": judging a known answer, because all attempts failed (" +
                                std::string(enum_name(decision.reason)) +
                                "): " + ended.scored.error().message);
    // Rationale: a submission can take so much memory that the reference fails, or so much of the device that
    // the judge does not answer in time. A task alone may also need too much. So the known answer is
    // measured, too.
    const bool measure = ended.finding.lacked_memory || ended.finding.end == End::kNoAnswer;
    if (!known_answer(device, job, measure)) return ended.scored.error();
    return result ? verdict_of_provocation(*result)
                  : verdict_of_provocation(result.error().message);
  }
  Verdict verdict = std::move(*ended.scored);
  if (ended.history.failed_itself && verdict.speedup) verdict.speedup->add_flag(flags::kRetried);
  if (const auto kind = result->judgement.hindered;
      job.mode == Mode::kModuleOnDevice && kind && builds_extensions(job.built->artifact))
    HONE_TRY(builds_.check_extensions(*kind));
  return verdict;
}

DeviceJob Judging::job_of(Job& job, RunKind run) const {
  const bool first = run == RunKind::kFirst;
  DeviceJob made;
  made.task = job.submission.task;
  made.built = job.built;
  made.trusted = job.trusted;
  made.mode = job.mode;
  made.plan = job.plan;
  made.client = job.submission.client;
  // The label is part of what recorded seeds mean: `hone replay` draws the same again.
  made.seed = first ? job.submission.seed : derive_seed(job.submission.seed, "second look") >> 1;
  made.limit_s = job.limit_s;
  made.swapped = !first;
  made.measure = job.tool != Tool::kCheck;
  made.shown_only = job.tool == Tool::kCheck;
  made.counts = first && job.tool == Tool::kProfile && may_count(options_, job.mode);
  made.over = &job.over;
  made.progress = [&job, first](JudgeStage stage) {
    if (first) job.times.begin(stage);
    if (stage == JudgeStage::kPrepare || job.over) return;
    job.progress(stage == JudgeStage::kMeasure ? Stage::kMeasuring : Stage::kChecking);
  };
  if (first) {
    made.waited = [&job](double from_s, double to_s) {
      job.times.waits_s.emplace_back(from_s, to_s);
    };
  }
  return made;
}

/// Runs the baseline as a submission, to test whether this device judges correctly. `measure`: also time it,
/// which needs more memory.
Status Judging::known_answer(Device& device, const Job& job, bool measure) const {
  const auto& task = job.submission.task;
  HONE_ASSIGN(const PlannedSource source, planned_baseline(*task, options_));
  DeviceJob made;
  HONE_ASSIGN(made.built, builds_.build(source.build));
  if (job.mode == Mode::kRecordedModule && made.built->plan == nullptr)
    return unavailable("the baseline has no recorded plan: " + made.built->not_recorded);
  made.trusted = job.trusted;
  made.task = task;
  made.mode = job.mode;
  made.plan = source.plans.at(Form::kEntry);
  made.seed = random_u64() >> 1;
  made.measure = measure && options_.measure.measure;
  made.swapped = true;
  const Ended ended =
      run(device, std::move(made), hone::begin_run(RunKind::kKnownAnswer, job.mode, true));
  const Result<DeviceResult>& result = ended.last.result;
  if (!result) return result.error();
  if (result->judgement.ending == Ending::kDone && result->judgement.verdict.correct()) return {};
  return unavailable("the baseline, judged as a submission: expected correct, found: " +
                     (result->judgement.message.empty() ? result->judgement.verdict.reason
                                                        : result->judgement.message));
}

}  // namespace hone
