// Judges a folder of generations for a level of KernelBench, and prints the level's table.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "episode/catalog.hpp"
#include "integrations/kernelbench/fast_p.hpp"
#include "integrations/kernelbench/run_folder.hpp"
#include "terminal/terminal.hpp"

namespace hone {

struct RunRequest {
  std::filesystem::path folder;  ///< runs/NAME
  std::string
      dataset;  ///< dataset of the configuration; empty: the one that uses the plugin kernelbench
  AnalysisRequest analysis;
  std::optional<std::pair<std::int64_t, std::int64_t>>
      subset;                          ///< first and last problem, inclusive
  std::vector<std::int64_t> problems;  ///< empty: all
  std::int64_t samples = 0;            ///< of each problem; 0: all
  bool judge = true;                   ///< false: only analyse existing results
  bool again = false;                  ///< also judge generations that have a result
  bool json = false;
  std::filesystem::path output;  ///< file for the analysis as JSON; empty: none

  bool wants(std::int64_t problem) const;
};

/// Judges the generations without a result in FOLDER/eval_results.json, stores each result there when it is
/// known, and prints the table and the analysis. Returns an exit code: 3 if some could not be judged.
int judge_run(Terminal& terminal, LoadedConfig loaded, const RunRequest& request);

/// The dataset of KernelBench's problems in a configuration: `wanted`, or the only one that uses the plugin
/// kernelbench.
Result<std::string> kernelbench_dataset(const Config& config, const std::string& wanted);

/// The dataset's problems of a level, by number.
Result<std::vector<Problem>> problems_of(const Catalog& catalog, const std::string& dataset,
                                         std::int64_t level);
/// The problem of a generation.
Result<const Problem*> problem_of(const std::vector<Problem>& problems, std::int64_t level,
                                  const Generation& generation);

}  // namespace hone
