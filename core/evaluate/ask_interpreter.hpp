// Asks an interpreter in a builder's jail about one artifact. Each question gets a new process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "evaluate/options.hpp"
#include "evaluate/zygotes.hpp"

namespace hone {

struct Question {
  std::string label;   ///< of the process, for messages: "dry run"
  std::string script;  ///< below share/module
  std::vector<std::string> arguments;
  double seconds = 0;  ///< of the process' own time
  std::int64_t memory_bytes = 0, file_bytes = 0;
  std::size_t answer_bytes_max = 0;
  Zygotes::Use use = Zygotes::Use::kSubmission;
};

/// [any thread] The process and its children have ended when this returns. An Error proves nothing about the artifact:
/// deadline_exceeded: the process ran too long; resource_exhausted: it was starved of processor time.
Result<std::string> ask_interpreter(Zygotes& zygotes, const EvaluatorOptions& options,
                                    const Question& question, const std::string& artifact);
/// The same without a zygote, for scripts that do not import torch.
Result<std::string> ask_interpreter(Launcher& launcher, const EvaluatorOptions& options,
                                    const Question& question, const std::string& artifact);

}  // namespace hone
