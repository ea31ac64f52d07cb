// Sources: what is to be built of a task or a submission, and the plan that goes with it.
#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"
#include "evaluate/build_pool.hpp"
#include "evaluate/mode.hpp"
#include "evaluate/options.hpp"
#include "judge_protocol/requests.hpp"
#include "model/task.hpp"

namespace hone {

/// One artifact to be: its build, and how it is started.
struct PlannedSource {
  BuildRequest build;
  Mode mode = Mode::kNativeOnCpu;
  FormPlans plans;  ///< a reference has more forms than kEntry
};

/// A task's reference or baseline, built.
struct TrustedCode {
  FormPlans plans;
  std::shared_ptr<const Built> built;
};

/// A task's reference and baseline, as a job brings them to a lane. Null: there is none, or its build failed or is
/// incomplete. The lane then builds it itself, and reports a failure.
struct TrustedCodes {
  std::shared_ptr<const TrustedCode> reference, baseline;

  const std::shared_ptr<const TrustedCode>& of(TrustedRole role) const {
    return role == TrustedRole::kReference ? reference : baseline;
  }
};

/// The task's mode. A task without sources for this backend counts as native code.
Mode mode_of(const Task& task, const EvaluatorOptions& options);
/// The settings with which submissions of this mode are measured.
MeasureSettings settings_of(Mode mode, MeasureSettings settings);

/// Whether its baseline is timed in several modes when it is installed, and the fastest is kept.
bool chooses_baseline(const Task& task, const EvaluatorOptions& options);

/// "submission.cpp", "submission.cu", …: what the compiler's messages call it.
std::string submission_name(const std::string& language, const EvaluatorOptions& options);

/// invalid_argument: a mistake in the source's plan, "LINE:COLUMN: error: …".
Result<PlannedSource> planned_submission(const Task& task, const std::string& language,
                                         const std::string& text, const EvaluatorOptions& options);
/// Of the task's own; a mistake is failed_precondition.
Result<PlannedSource> planned_reference(const Task& task, const EvaluatorOptions& options);
Result<PlannedSource> planned_baseline(const Task& task, const EvaluatorOptions& options);
Result<PlannedSource> planned_trusted(const Task& task, TrustedRole role,
                                      const EvaluatorOptions& options);
/// An Error is a fault. A build that failed is a result.
Result<TrustedCode> build_planned(PlannedSource source, BuildPool& builds);
/// Null: a lane must not use this code, because its build failed or is incomplete.
std::shared_ptr<const TrustedCode> usable(const Result<TrustedCode>& code);
/// Builds the reference, and the baseline of a timed task, unless `codes` has them.
void build_trusted(const Task& task, const EvaluatorOptions& options, BuildPool& builds,
                   TrustedCodes& codes);

}  // namespace hone
