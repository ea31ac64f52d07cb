// bench_mix(): evaluation rate of a mix of submissions, for `hone bench modules --run DIR --traces FILE`.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "bench/load.hpp"
#include "evaluate/make_evaluator.hpp"
#include "model/value.hpp"

namespace hone {

/// The submissions: correct and wrong modules.
struct ModuleMix {
  std::vector<Submission> submissions;  ///< each with task, language, source, client, episode
  int without_code = 0;                 ///< answers without code, which were left out
};

struct MixBenchOptions {
  ModuleMix mix;
  int count = 0;  ///< number of timed submissions, each with a unique source; 0: the mix once
  int in_flight = kBenchAtOnce;  ///< submissions that hone judges at a time
  int at_once = 1;               ///< processes of the plain harness at a time
  std::function<void(std::string_view what)> say;
};

/// Returns a list of figures (model/figure.hpp). First the whole mix is evaluated once, with cold caches.
/// Then `count` submissions of it are timed, `in_flight` at a time, and then as many of the ones that were
/// correct in the first pass. The baseline is a harness that starts an interpreter for each of at most 32
/// submissions (plain_harness.hpp). failed_precondition: a task without modules, or no submission.
Result<Value> bench_mix(Launcher& launcher, const EvaluatorOptions& options,
                        const MixBenchOptions& bench);

}  // namespace hone
