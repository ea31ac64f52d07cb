// bench_mix(): how fast a mix of submissions is judged, for `hone bench modules --run DIR --traces FILE`.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "evaluate/make_evaluator.hpp"
#include "model/value.hpp"

namespace hone {

/// What is judged: modules, right and wrong ones.
struct ModuleMix {
  std::vector<Submission> submissions;  ///< each with task, language, source, client, episode
  int without_code = 0;                 ///< that were left out
};

struct MixBenchOptions {
  ModuleMix mix;
  int count = 0;    ///< submissions that are timed, each another source; 0: the mix once
  int at_once = 1;  ///< processes that the plain harness has under way
  std::function<void(std::string_view what)> say;
};

/// A list of figures (model/figure.hpp). The mix is gone through once, cold; then `count` of it are timed, and then as
/// large a share of those that came out correct at first, sixteen at once. The baseline is a harness that starts an interpreter for each of at most 32 submissions (plain_harness.hpp). failed_precondition: a task without modules, or nothing to judge.
Result<Value> bench_mix(Launcher& launcher, const EvaluatorOptions& options,
                        const MixBenchOptions& bench);

}  // namespace hone
