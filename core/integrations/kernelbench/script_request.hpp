// Arguments of KernelBench's scripts as requests, for `hone kernelbench`.
#pragma once

#include <string>
#include <vector>

#include "integrations/kernelbench/generate_run.hpp"
#include "integrations/kernelbench/judge_run.hpp"

namespace hone {

struct ScriptRequest {
  RunRequest run;
  GenerateRequest generate;  ///< of the action generate
  std::string baseline;      ///< file with a baseline's times (read_baseline()); empty: none
  std::vector<std::string> without_effect;  ///< arguments that the configuration decides
};

/// `action`: generate, eval or analyse. `given`: arguments NAME=VALUE of KernelBench's script for it.
Result<ScriptRequest> read_script_arguments(const std::string& action,
                                            const std::vector<std::string>& given);

}  // namespace hone
