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
  std::string dataset;  ///< as it is configured; empty: the one that KernelBench's plugin has
  AnalysisRequest analysis;
  std::optional<std::pair<std::int64_t, std::int64_t>> subset;  ///< problems, both ends included
  std::vector<std::int64_t> problems;                           ///< empty: all
  std::int64_t samples = 0;                                     ///< of each problem; 0: all
  bool judge = true;   ///< false: what is there is analysed
  bool again = false;  ///< judge what has a result too
  bool json = false;
  std::filesystem::path output;  ///< the analysis as JSON; empty: nowhere

  bool wants(std::int64_t problem) const;
};

/// Judges what has no result in FOLDER/eval_results.json yet, keeps each result there as it comes,
/// and prints table and analysis. Returns an exit code: 3 where something could not be judged.
int judge_run(Terminal& terminal, LoadedConfig loaded, const RunRequest& request);

/// The dataset of KernelBench's problems in a configuration: `wanted`, or the only one of the plugin.
Result<std::string> kernelbench_dataset(const Config& config, const std::string& wanted);

/// Its problems of a level, by number.
Result<std::vector<Problem>> problems_of(const Catalog& catalog, const std::string& dataset,
                                         std::int64_t level);
/// The one that a generation is of.
Result<const Problem*> problem_of(const std::vector<Problem>& problems, std::int64_t level,
                                  const Generation& generation);

}  // namespace hone
