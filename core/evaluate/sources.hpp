// Sources: what is to be built of a task or a submission, and the plan that goes with it.
#pragma once

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
/// Builds both, so that a device finds them built; whatever goes wrong it finds, too.
void build_trusted(const Task& task, const EvaluatorOptions& options, BuildPool& builds);

}  // namespace hone
