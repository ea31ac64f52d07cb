// bench_modules(): how fast modules are judged, for `hone bench modules`.
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
  std::shared_ptr<const Task> task;  ///< required: of modules, each output one tensor
  std::string source;                ///< required: a correct submission that defines ModelNew
  int count = 20;                    ///< submissions, each another source
  int at_once = 1;                   ///< processes that the plain harness has under way
  std::function<void(std::string_view what)> say;
};

/// A list of figures (model/figure.hpp): a server's first evaluation, one alone and by stage, and evaluations per
/// second, against a plain harness that starts an interpreter for each submission (plain_modules.py), with no jail
/// and no secrets; what is left of that where every fifth faults, and the memory of this process. failed_precondition
/// where the task is none of modules.
Result<Value> bench_modules(Launcher& launcher, const EvaluatorOptions& options,
                            const ModuleBenchOptions& bench);

}  // namespace hone
