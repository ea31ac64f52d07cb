// What a level's results come to, in KernelBench's terms: compiled, correct, fast_p, pass@k.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "integrations/kernelbench/run_folder.hpp"
#include "terminal/terminal.hpp"

namespace hone {

struct Problem {
  std::int64_t number = 0;
  std::string title;    ///< "19_ReLU"
  std::string task_id;  ///< "kernelbench/level1/19"
};

/// What is asked of an analysis.
struct AnalysisRequest {
  std::string run_name = {};
  std::int64_t level = 0;
  std::vector<double> thresholds = {0.0, 0.5, 0.8, 1.0, 1.5, 2.0};
  std::vector<std::int64_t> ks =
      {};  ///< of pass@k; empty: 1, and all samples where there are several
  /// Mean times of the baseline in ms by title, of KernelBench's results/timing; where given, all
  /// speedups are over these.
  std::optional<std::map<std::string, double>> baseline_ms = {};
};

/// A share that may not be known yet.
struct Share {
  double at_least = 0, at_most = 0;
  bool known() const { return at_least == at_most; }
};

/// A mean over the problems with k samples or more.
struct PassAtK {
  double chance = 0;
  std::int64_t problems = 0;
  bool operator==(const PassAtK&) const = default;
};

/// KernelBench's rules: sample 0 of each problem counts; shares are of all problems of the level, and
/// a problem without a result is one that did not compile. fast_p is the share that is correct and more than p
/// times as fast as the baseline. Not theirs: fast_0 is the share that is correct, and what was not
/// measured is unknown and not slow.
struct Analysis {
  AnalysisRequest request;
  std::size_t total = 0, evaluated = 0, compiled = 0, correct = 0, unmeasured = 0, not_judged = 0;
  std::vector<std::pair<double, Share>> fast_p;  ///< in the thresholds' order
  std::optional<double> median, geometric_mean;  ///< speedups of the correct ones that have one
  std::map<std::int64_t, PassAtK> pass_at_k;     ///< by k
};

/// `not_judged`: problems whose sample 0 could not be judged; their shares are unknown.
Analysis analyse(AnalysisRequest request, const std::vector<Problem>& problems,
                 const EvalResults& results, const std::set<std::int64_t>& not_judged);

/// Over the baseline; no value where it was not measured.
std::optional<double> speedup_of(const AnalysisRequest& request, const Problem& problem,
                                 const SampleResult& result);

/// With the members that KernelBench's analysis writes, and more.
Value to_value(const Analysis& analysis);
void print(Terminal& terminal, const Analysis& analysis);

/// results/timing/HARDWARE/BASELINE.json: the times of a level.
Result<std::map<std::string, double>> read_baseline(const std::filesystem::path& file,
                                                    std::int64_t level);

}  // namespace hone
