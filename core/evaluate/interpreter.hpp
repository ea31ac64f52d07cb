// The interpreter of Python modules: its path, its folders, and how a script is started.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "evaluate/options.hpp"
#include "sandbox/launcher.hpp"

namespace hone {

/// Has Python modules taken, by the interpreter at `path`, which has torch; after `libexec` is known. `key`: the
/// configuration's, for messages.
/// failed_precondition where there is none.
Status use_interpreter(const std::string& key, const std::string& path, EvaluatorOptions& options);

/// failed_precondition where no interpreter is configured for modules: says which key to set.
Status expect_interpreter(const EvaluatorOptions& options);

/// A module's process: `script` of share/module, told where modules compute, the candidate's library, `arguments` of its
/// own and the folders that it may read once it has sealed itself. `spawn.readable` may name some of them already.
void run_interpreter(const EvaluatorOptions& options, const char* script,
                     const std::vector<std::string>& arguments, SpawnRequest& spawn);

/// The first of these, or of the folders of packages in them, that another user than root owns or may write to; empty
/// where there is none.
std::string not_roots_own(const std::vector<std::string>& paths);

}  // namespace hone
