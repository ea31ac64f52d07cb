// Lets a model write the generations of a run: a server in this process, with hone.rollout as its client.
#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"
#include "integrations/kernelbench/judge_run.hpp"

namespace hone {

struct GenerateRequest {
  std::string url;  ///< an OpenAI-compatible endpoint
  std::int64_t samples = 1;
  std::vector<std::string> options;  ///< further options of hone.rollout
};

/// Asks the model once for each sample of the run's problems. Writes the code of its answers to the run's
/// folder, and their verdicts to eval_results.json. Returns whether generations are left without a verdict,
/// because of a fault.
Result<bool> generate_run(Terminal& terminal, const LoadedConfig& loaded, const RunRequest& run,
                          const GenerateRequest& request);

}  // namespace hone
