// Verdicts from what builders and judges found.
#pragma once

#include "evaluate/build_pool.hpp"
#include "evaluate/device.hpp"
#include "model/verdict.hpp"

namespace hone {

/// A mistake in a submission's plan.
Verdict verdict_of_plan(const Error& error, const std::string& source_name);

/// A build that failed, or nothing when it is fine.
std::optional<Verdict> verdict_of_build(const Built& built, const std::string& source_name,
                                        const EvaluatorOptions& options);

/// A module that was not recorded, where only recorded ones are judged; else nothing.
std::optional<Verdict> verdict_of_recording(const std::string& not_recorded,
                                            const EvaluatorOptions& options);

/// A module that is certain to fail, or nothing: the verdict that it would get on the device.
std::optional<Verdict> verdict_of_dry_run(const Built& built);

/// A judgement about the submission. An Error when it was no doing of the submission's.
Result<Verdict> verdict_of_judgement(const DeviceResult& result);

/// As the task wants it of a module whose work torch's operators do alone, or of which nothing is known: said, or
/// rejected. `dry_run`: the second witness, if there is one.
Verdict with_policy(const Task& task, Verdict verdict, const std::optional<Witnessed>& dry_run);

/// The verdict. If the judge has flagged its speedup flags::kMachineNoisy, an error instead: noise must not be rewarded.
Result<Verdict> unless_noise(Verdict verdict);

/// The verdict of a submission that provoked a fault of ours twice, when all else works: `crashed`, or `out_of_memory`
/// if hone's own processes lacked device memory meanwhile.
Verdict verdict_of_provocation(const DeviceResult& result);
/// The same where there was no judgement, with what was said instead.
Verdict verdict_of_provocation(const std::string& message);

}  // namespace hone
