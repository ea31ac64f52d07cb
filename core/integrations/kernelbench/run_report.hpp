// Output of `hone eval` for a level's run: a line for each sample, counts and the analysis.
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
  /// Reasons of missing verdicts, by problem and sample.
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> not_judged;
  std::map<std::int64_t, std::size_t> other_levels;  ///< numbers of ignored files, by level
  std::size_t kept = 0;                              ///< samples that already had a result

  /// nullptr: the level has no such problem.
  const Problem* find_problem(std::int64_t number) const;
};

class RunReport {
 public:
  RunReport(Terminal& terminal, const RunRequest& request, const JudgedRun& run)
      : terminal_(terminal), request_(request), run_(run) {}

  /// One sample in the form of `--json`: its result, or the reason why it has none.
  Value sample(std::int64_t problem, std::int64_t sample) const;
  /// All samples, by problem.
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
