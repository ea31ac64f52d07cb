// Has a model write a run's generations: a server in this process, hone.rollout for its client.
#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"
#include "integrations/kernelbench/judge_run.hpp"

namespace hone {

struct GenerateRequest {
  std::string url;  ///< an OpenAI-compatible endpoint
  std::int64_t samples = 1;
  std::vector<std::string> options;  ///< of hone.rollout, besides
};

/// Asks the model for each sample of the run's problems once, writes the code of its answers to the
/// run's folder and their verdicts to eval_results.json. Whether something is left to judge: a
/// fault of the machine leaves a generation without a verdict.
Result<bool> generate_run(Terminal& terminal, const LoadedConfig& loaded, const RunRequest& run,
                          const GenerateRequest& request);

}  // namespace hone
