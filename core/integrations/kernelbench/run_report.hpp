// What `hone eval` says of a level's run: a line per sample, the counts and the analysis.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "integrations/kernelbench/judge_run.hpp"

namespace hone {

/// The results of a run.
struct JudgedRun {
  std::vector<Problem> problems;  ///< of the level
  std::optional<EvalResults> results;
  /// By problem and sample: why there is no verdict.
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> not_judged;
  std::map<std::int64_t, std::size_t> other_levels;  ///< files that were passed over, by level
  std::size_t kept = 0;                              ///< samples whose results were there before

  /// nullptr: the level has no such problem.
  const Problem* find_problem(std::int64_t number) const;
};

class RunReport {
 public:
  RunReport(Terminal& terminal, const RunRequest& request, const JudgedRun& run)
      : terminal_(terminal), request_(request), run_(run) {}

  /// One sample as `--json` has it: its result, or why there is none.
  Value sample(std::int64_t problem, std::int64_t sample) const;
  /// All of them, by problem.
  Value samples() const;
  /// Prints the summary, as JSON or after a table of all samples. Returns an exit code.
  int finish() const;

 private:
  Value result(const Problem& problem, const SampleResult& result) const;
  Value counts() const;
  Value not_judged() const;
  Value refused() const;
  std::set<std::int64_t> unknown_problems() const;
  void print_samples(const Value& samples) const;
  void print_counts(const Value& samples) const;
  void print_passed_over() const;

  Terminal& terminal_;
  const RunRequest& request_;
  const JudgedRun& run_;
};

}  // namespace hone
