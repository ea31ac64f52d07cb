// A level's results in KernelBench's terms: compiled, correct, fast_p, pass@k.
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

/// Options of an analysis.
struct AnalysisRequest {
  std::string run_name = {};
  std::int64_t level = 0;
  std::vector<double> thresholds = {0.0, 0.5, 0.8, 1.0, 1.5, 2.0};
  std::vector<std::int64_t> ks =
      {};  ///< the k of pass@k; empty: 1, and the number of samples if there are several
  /// Mean times of a baseline in ms, by title, as in KernelBench's results/timing. If given, all speedups are
  /// relative to them.
  std::optional<std::map<std::string, double>> baseline_ms = {};
};

/// A share; unknown if a problem that counts could not be judged.
struct Share {
  double at_least = 0, at_most = 0;
  bool known() const { return at_least == at_most; }
};

/// A mean over the problems with at least k samples.
struct PassAtK {
  double chance = 0;
  std::int64_t problems = 0;
  bool operator==(const PassAtK&) const = default;
};

/// KernelBench's rules: sample 0 of each problem counts. Shares are of all problems of the level; a problem
/// without a result counts as not compiled. fast_p is the share that is correct and more than p times as fast
/// as the baseline. Two rules differ from KernelBench: fast_0 is the share that is correct, and the speed of
/// a correct sample without a measurement is unknown, not slow.
struct Analysis {
  AnalysisRequest request;
  std::size_t total = 0, evaluated = 0, compiled = 0, correct = 0, unmeasured = 0, not_judged = 0;
  std::vector<std::pair<double, Share>> fast_p;  ///< in the order of the thresholds
  std::optional<double> median, geometric_mean;  ///< speedups of correct samples that were timed
  std::map<std::int64_t, PassAtK> pass_at_k;     ///< by k
};

/// `not_judged`: problems whose sample 0 could not be judged; their shares are unknown.
Analysis analyse(AnalysisRequest request, const std::vector<Problem>& problems,
                 const EvalResults& results, const std::set<std::int64_t>& not_judged);

/// Speedup over the baseline; nullopt if it was not measured.
std::optional<double> speedup_of(const AnalysisRequest& request, const Problem& problem,
                                 const SampleResult& result);

/// The members of KernelBench's own analysis, and further ones.
Value to_value(const Analysis& analysis);
void print(Terminal& terminal, const Analysis& analysis);

/// Reads results/timing/HARDWARE/BASELINE.json: the baseline times of a level.
Result<std::map<std::string, double>> read_baseline(const std::filesystem::path& file,
                                                    std::int64_t level);

}  // namespace hone
