// Finds and starts hone's Python package, for commands that are written in Python.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace hone {

inline constexpr const char* kHowToGetRollout =
    "install it from a checkout: pip install './clients/python[rollout]'; or name an interpreter "
    "that has it: HONE_PYTHON=/path/to/bin/python";

/// HONE_PYTHON, for example of a virtual environment; else python3.
std::string client_python();

/// Whether the interpreter exists and can import hone.rollout.
Status find_rollout(const std::string& interpreter);

/// Runs hone.rollout and returns its exit status. Its output goes to standard error. Only hone.rollout handles an interrupt of the terminal.
Result<int> run_rollout(const std::string& interpreter, const std::vector<std::string>& arguments);

/// As exec and spawn want them; they point into `texts`.
std::vector<char*> pointers_to(std::vector<std::string>& texts);

}  // namespace hone
