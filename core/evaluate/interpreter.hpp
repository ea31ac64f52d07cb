// The interpreter of Python modules: what an evaluator is told of it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "evaluate/options.hpp"

namespace hone {

/// Has Python modules taken, by the interpreter at `path`, which has torch; after `libexec` is known.
/// failed_precondition where there is none.
Status use_interpreter(const std::string& path, EvaluatorOptions& options);

/// What an interpreter imports from: its environment, the links that it is made of, and the folder of
/// what they lead to. /usr is left out: jails have its libraries.
std::vector<std::string> interpreter_folders(std::filesystem::path program);

}  // namespace hone
