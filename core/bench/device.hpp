// bench_device(): rate and accuracy of evaluations on a device, for `hone bench gpu`.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "evaluate/make_evaluator.hpp"
#include "model/task.hpp"
#include "model/value.hpp"

namespace hone {

struct DeviceBenchOptions {
  std::shared_ptr<const Task> task;  ///< required; variants of its baseline are submitted
  int count = 64;  ///< submissions for the rate; other numbers are derived from it
  /// Kernels that are timed with both clocks: dependent steps for each thread, and number of threads.
  std::vector<int> steps{1, 150, 400, 1000, 3000, 8000, 25'000, 80'000, 250'000, 1'000'000};
  std::int64_t threads = 1 << 18;
  std::function<void(std::string_view what)> say;
};

/// A list of {"name", "value", "unit", "baseline", "ratio", "goal", "holds"}:
/// - evaluations per second of distinct submissions, sixteen at once, against the same with a
///   process for each, and where their time goes;
/// - the judge's time against the device's own clock, of kernels from microseconds to milliseconds;
/// - the baseline against itself, alone and with all builders busy;
/// - the rate when every fifth submission faults;
/// - the host's memory at the end of the run against its start.
Result<Value> bench_device(Launcher& launcher, const EvaluatorOptions& options,
                           const DeviceBenchOptions& bench);

}  // namespace hone
