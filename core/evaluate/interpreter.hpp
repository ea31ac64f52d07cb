// The interpreter of Python modules: its path, its folders, and how a script is started.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "evaluate/options.hpp"
#include "evaluate/zygotes.hpp"
#include "sandbox/launcher.hpp"

namespace hone {

/// Enables Python modules with the interpreter at `path`, which must have torch. Call once `libexec` is set.
/// `key`: the configuration key, for messages. failed_precondition: there is no interpreter.
Status use_interpreter(const std::string& key, const std::string& path, EvaluatorOptions& options);

/// failed_precondition, with the key to set, if no interpreter for modules is configured.
Status expect_interpreter(const EvaluatorOptions& options);

/// Fills in `spawn` for a module's process: the interpreter runs `script` of share/module with the place
/// where modules compute (module_environment.py), the candidate's library, `arguments`, and the folders that it may read once it is
/// sealed. `spawn.readable` may already have some of these folders.
void run_interpreter(const EvaluatorOptions& options, const char* script, Zygotes::Use use,
                     const std::vector<std::string>& arguments, SpawnRequest& spawn);

/// The first of these paths, or of the package folders in them, that a user other than root owns or may write
/// to; empty: none.
std::string not_roots_own(const std::vector<std::string>& paths);

}  // namespace hone
