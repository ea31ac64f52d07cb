// bench_step() and bench_noise(): the overhead of the sandbox, and the repeatability of the clock; for `hone bench`.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "evaluate/make_evaluator.hpp"
#include "model/task.hpp"
#include "model/value.hpp"

namespace hone {

struct EvaluateBenchOptions {
  std::shared_ptr<const Task> task;  ///< required: add_relu
  std::string source;                ///< required: a correct C++ submission of this task
  int steps = 20;  ///< bench_step: number of submissions, each with a unique source
  int runs =
      500;  ///< bench_noise: number of measurements of the baseline against itself, on an idle and on a busy machine each
  std::function<void(int done, int all)> progress;
};

/// A list of {"name", "value", "unit", "baseline", "ratio", "goal", "holds"}.
/// step: hone's evaluator, one submission at a time and all at once, against a plain loop in one
/// process that runs the same compiler with the same flags and the same trials, rounds, checks and
/// baseline, with no jail, no freeze and no cache.
Result<Value> bench_step(Launcher& launcher, const EvaluatorOptions& options,
                         const EvaluateBenchOptions& bench);

/// noise: the baseline submitted against itself, with the other cores idle and with one of them
/// busy: the standard deviation of the speedup, how often its 95 % interval misses 1, and how often
/// it claims to be faster.
Result<Value> bench_noise(Launcher& launcher, const EvaluatorOptions& options,
                          const EvaluateBenchOptions& bench);

}  // namespace hone
