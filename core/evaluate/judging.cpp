#include "evaluate/judging.hpp"

#include <string>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "evaluate/rehearsal.hpp"
#include "evaluate/verdicts.hpp"
#include "judge/fill.hpp"

namespace hone {
namespace {

// Rationale: random SIGKILLs from outside may hit one submission twice; three times is unlikely.
constexpr int kAttemptsOfALook = 2, kAttemptsIfKilled = 3;

bool ended_by_itself(const Result<DeviceResult>& result) {
  return result && result->judgement.culprit == Culprit::kSubmission &&
         result->judgement.ending != Ending::kStarved &&
         !(result->exit && result->exit->killed_by_machine);
}

}  // namespace

/// Judges, and what looks too good once more, with other secrets.
Result<Verdict> Judging::judge(Device& device, Job& job) {
  const Submission& s = job.submission;
  Result<Verdict> first = look(device, job, false);
  if (!first || !options_.measure.defences.holds(Defence::kSecondLook)) return first;
  if (const std::string doubt =
          looks_.doubt(*s.task, *first, device.bytes_per_second_max(*s.task), job.used);
      !doubt.empty()) {
    job.times.second_look_s = monotonic_s();
    Result<Verdict> second = look(device, job, true);
    if (!second) return second.error().in("second look");
    first = settle(std::move(*first), std::move(*second), job.used);
    const std::string words = "episode " + s.episode + ", client '" + s.client + "', task " +
                              s.task->id + ": " + doubt + "; a second look " + first->second_look;
    const bool agreed = first->second_look == "agreed";
    agreed ? log_info("evaluate", words) : log_warning("evaluate", words + ": " + first->reason);
  }
  looks_.remember(*s.task, *first);
  return first;
}

/// Judges in a fresh process, and again in another one after a fault. An artifact that ends so each time, while a known
/// answer is judged right, did it on purpose. A speedup that was measured after a failure of the submission's process
/// is flagged: otherwise a submission could fail until its measurement is lucky.
Result<Verdict> Judging::look(Device& device, Job& job, bool second) {
  Result<Verdict> verdict = unavailable("not judged");
  const std::uint64_t seed =
      second ? derive_seed(job.submission.seed, "second look") >> 1 : job.submission.seed;
  bool begun = false;
  const Defences& defences = options_.measure.defences;
  bool failed_before = false;
  int attempts = kAttemptsOfALook;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    if (!second) job.times.begin(JudgeStage::kPrepare);
    const auto hear = [&job, second](JudgeStage stage) {
      if (!second) job.times.begin(stage);
      const bool measuring = stage == JudgeStage::kMeasure;
      if (!job.over) job.progress(measuring ? Stage::kMeasuring : Stage::kChecking);
    };
    DeviceJob look;
    look.task = job.submission.task;
    look.built = job.built;
    look.plan = job.plan;
    look.client = job.submission.client;
    look.episode = job.submission.episode;
    look.seed = seed;
    look.limit_s = job.limit_s;
    look.swapped = second;
    look.whole = attempt > 0;
    look.over = &job.over;
    look.progress = hear;
    if (!second)
      look.waited = [&job](double from_s, double to_s) {
        job.times.waits_s.emplace_back(from_s, to_s);
      };
    auto result = device.run(look);
    begun = begun || device.has_begun();
    if (job.over) return unavailable("ended early");
    if (!second) job.used = result && result->used;
    verdict = result ? verdict_of_judgement(*result) : Result<Verdict>(result.error());
    if (verdict) verdict = unless_noise(std::move(*verdict));
    if (verdict) {
      if (failed_before && verdict->speedup) verdict->speedup->flags.push_back("retried");
      if (const auto kind = result->judgement.hindered;
          is_module_on_device(job) && kind && builds_extensions(job.built->artifact))
        HONE_TRY(builds_.check_extensions(*kind));
      // What did a native kernel's work is no question, and nobody watches it.
      if (!is_module(*job.submission.task, options_)) return verdict;
      const bool told = options_.measure.defences.holds(Defence::kSecondWitness);
      return with_policy(*job.submission.task, std::move(*verdict),
                         told ? job.built->rehearsed : std::nullopt);
    }
    log_warning("evaluate",
                "attempt " + std::to_string(attempt + 1) + ": " + verdict.error().message);
    // A task that the device cannot hold, and a reference or a device that was waited for in vain: no second attempt.
    const bool in_vain = verdict.error().code == Code::kDeadlineExceeded && !device.has_begun();
    if (!result && (device.has_given_up() || in_vain)) return verdict;
    failed_before = failed_before || ended_by_itself(result);
    const bool unexplained = result && killed_without_cause(*result);
    if (unexplained) attempts = kAttemptsIfKilled;
    const bool provoked = begun && may_be_provoked(result, is_module_on_device(job)) &&
                          (defences.holds(Defence::kProvenFaults) || !unexplained);
    if (attempt + 1 < attempts || !provoked) continue;
    // Rationale: a submission can take so much memory that the reference finds none, or so much of the device that the judge
    // does not answer in time. A task can need too much by itself. So the known answer is judged as the submission was,
    // measured too.
    const bool memory = result && result->judgement.ending == Ending::kOutOfMemory;
    const bool measure = look.measure && (memory || !result);
    if (Status known = device.known_answer(job.submission.task, measure); known)
      return result ? verdict_of_provocation(*result)
                    : verdict_of_provocation(result.error().message);
  }
  return verdict;
}

/// Rationale: a module's host code beside a device can have the reference run out of memory, or itself
/// ended by its own children, and whoever fails that often while a known answer is judged right did it.
bool Judging::is_module_on_device(const Job& job) const {
  return options_.device_code && is_module(*job.submission.task, options_);
}

}  // namespace hone
