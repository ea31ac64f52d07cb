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
  std::map<std::int64_t, std::size_t> of_others;  ///< files of other levels, by level
};

/// Lists the generations of a level. Other files are passed over, Python's with a warning; the error
/// of a folder without one says which levels it has.
Result<Generations> list_generations(const std::filesystem::path& folder, std::int64_t level);

/// Its source.
Result<std::string> read_generation(const Generation& generation);

/// What the results say of one sample.
struct SampleResult {
  std::int64_t problem = 0, sample = 0;
  bool compiled = false, correct = false;
  std::string outcome,
      reason;  ///< of hone; for results of other programs derived from correctness and metadata
  std::optional<double> runtime_ms;  ///< of the submission, where it was measured
  std::optional<double> speedup;     ///< over the baseline that hone measured
  std::string source_hash;           ///< of the generation, where hone judged it
};

/// What cannot be so: it counts for nothing, and stays in the file until the sample is judged.
struct RefusedEntry {
  std::int64_t problem = 0;
  std::optional<std::int64_t> sample;  ///< where it says one
  std::string why;      ///< file, problem, what was found and what was expected; of one line
  bool judged = false;  ///< anew, since
};

/// Times in ms and speedups that somebody may have measured.
inline constexpr double kTimeMsMin = 1e-9, kTimeMsMax = 1e12, kSpeedupMin = 1e-9, kSpeedupMax = 1e9;

/// eval_results.json: by problem a list of samples, each with sample_id, compiled, correctness,
/// metadata, runtime (ms, -1 where not measured) and runtime_stats. What is said of hone's verdict
/// besides stands in metadata.hone; whatever else a file holds stays in it.
class EvalResults {
 public:
  /// A file that is not there is empty.
  static Result<EvalResults> read(const std::filesystem::path& file);

  const SampleResult* find(std::int64_t problem, std::int64_t sample) const;
  /// In the order of problems and samples.
  std::vector<const SampleResult*> all() const;
  const std::vector<RefusedEntry>& refused() const { return refused_; }
  /// Whether nothing is left to judge of a generation: one that was judged by others, or by hone
  /// with this very source.
  bool has(const Generation& generation, const std::string& source_hash) const;

  /// Puts a verdict in the place of what is said of the sample.
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
