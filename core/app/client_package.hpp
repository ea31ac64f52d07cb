// hone's Python package, for commands whose work it does: where it is, and how it is started.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace hone {

inline constexpr const char* kHowToGetRollout =
    "get it, in a checkout: pip install './clients/python[rollout]'; or name an interpreter that "
    "has it: HONE_PYTHON=/path/to/bin/python";

/// python3, or what HONE_PYTHON names: of a virtual environment, say.
std::string client_python();

/// Whether the interpreter is there and has hone.rollout with what it needs.
Status find_rollout(const std::string& interpreter);

/// Runs hone.rollout to its end and gives its exit status. What it prints goes to standard error;
/// an interrupt of the terminal is its business alone.
Result<int> run_rollout(const std::string& interpreter, const std::vector<std::string>& arguments);

/// As exec and spawn want them; they point into `texts`.
std::vector<char*> pointers_to(std::vector<std::string>& texts);

}  // namespace hone
