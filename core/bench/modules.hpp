// bench_modules(): evaluation rate of modules, for `hone bench modules`.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "evaluate/make_evaluator.hpp"
#include "model/task.hpp"
#include "model/value.hpp"

namespace hone {

struct ModuleBenchOptions {
  std::shared_ptr<const Task> task;  ///< required: a task with modules; each output is one tensor
  std::string source;                ///< required: a correct submission that defines ModelNew
  int count = 20;                    ///< number of submissions, each with a unique source
  int at_once = 1;                   ///< processes of the plain harness at a time
  std::function<void(std::string_view what)> say;
};

/// Returns a list of figures (model/figure.hpp): the first evaluation of a server; one evaluation at a time,
/// by stage; evaluations per second, compared with a plain harness that starts an interpreter for each
/// submission, without a sandbox or secrets (plain_modules.py); the same rate if every fifth submission
/// faults; and the memory of this process. failed_precondition: the task has no modules.
Result<Value> bench_modules(Launcher& launcher, const EvaluatorOptions& options,
                            const ModuleBenchOptions& bench);

}  // namespace hone
