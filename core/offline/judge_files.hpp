// Judges, times and rewards kernels from files as a step of an episode does, for `hone eval`.
#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"
#include "terminal/terminal.hpp"

namespace hone {

struct FilesRequest {
  std::string task;
  std::vector<std::string> files;  ///< sources or answers of a model; "-": standard input
  std::string language;            ///< of all files; empty: by file
  std::string reward;              ///< a name, or a path; empty: the configured one
  bool json = false;
};

/// Prints a row for each file, and for a single file its feedback. Returns an exit code: 3 if one could not be judged.
int judge_files(Terminal& terminal, LoadedConfig loaded, const FilesRequest& request);

}  // namespace hone
