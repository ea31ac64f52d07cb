// A run in KernelBench's format: a folder of generations with an eval_results.json.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/value.hpp"
#include "model/verdict.hpp"

namespace hone {

/// One sample of a problem: level_1_problem_19_sample_0_kernel.py.
struct Generation {
  std::int64_t problem = 0, sample = 0;
  std::filesystem::path file;
};

std::string generation_name(std::int64_t level, std::int64_t problem, std::int64_t sample);

/// The generations in a folder.
struct Generations {
  std::vector<Generation> of_level;               ///< by problem and sample
  std::map<std::int64_t, std::size_t> of_others;  ///< number of files of each other level
};

/// Lists the generations of a level. Other files are ignored, Python files with a warning. The error for a
/// folder without this level names the levels that it has.
Result<Generations> list_generations(const std::filesystem::path& folder, std::int64_t level);

/// The source of a generation.
Result<std::string> read_generation(const Generation& generation);

/// The result of one sample.
struct SampleResult {
  std::int64_t problem = 0, sample = 0;
  bool compiled = false, correct = false;
  std::string outcome,
      reason;  ///< hone's; for results of other programs, derived from correctness and metadata
  std::optional<double> runtime_ms;  ///< time of the submission, if it was measured
  std::optional<double> speedup;     ///< over the baseline, as measured by hone
  std::string source_hash;           ///< of the generation that hone judged
};

/// An invalid entry. It does not count, and stays in the file until the sample is judged.
struct RefusedEntry {
  std::int64_t problem = 0;
  std::optional<std::int64_t> sample;  ///< none if the entry does not name one
  std::string why;                     ///< one line: file, problem, value found and value expected
  bool judged = false;                 ///< the sample has been judged since
};

/// Plausible times (ms) and speedups; other values are invalid.
inline constexpr double kTimeMsMin = 1e-9, kTimeMsMax = 1e12, kSpeedupMin = 1e-9, kSpeedupMax = 1e9;

/// eval_results.json: for each problem a list of samples, each with sample_id, compiled, correctness,
/// metadata, runtime (ms, -1 if not measured) and runtime_stats. Further members of hone's verdict are in
/// metadata.hone. Unknown members of the file are preserved.
class EvalResults {
 public:
  /// A missing file counts as empty.
  static Result<EvalResults> read(const std::filesystem::path& file);

  const SampleResult* find(std::int64_t problem, std::int64_t sample) const;
  /// Sorted by problem and sample.
  std::vector<const SampleResult*> all() const;
  const std::vector<RefusedEntry>& refused() const { return refused_; }
  /// Whether the generation needs no evaluation: another program judged it, or hone judged this source.
  bool has(const Generation& generation, const std::string& source_hash) const;

  /// Replaces the sample's result by a verdict.
  void put(const Generation& generation, const std::string& source_hash, const Verdict& verdict);
  Status write() const;

 private:
  struct Entry {
    SampleResult result;
    Value written;
  };
  explicit EvalResults(std::filesystem::path file) : file_(std::move(file)) {}
  Status take(const std::string& problem, const Value& samples);
  void refuse(std::int64_t problem, std::optional<std::int64_t> sample, const std::string& why,
              const Value& written);

  std::filesystem::path file_;
  std::map<std::pair<std::int64_t, std::int64_t>, Entry> entries_;  // by problem and sample
  std::vector<RefusedEntry> refused_;
  std::vector<Value> refused_written_;  // parallel to refused_
};

}  // namespace hone
