// Prints the prompt of a task, or the feedback after a turn, for `hone prompt`.
#pragma once

#include <string>

#include "config/config.hpp"
#include "terminal/terminal.hpp"

namespace hone {

struct PromptRequest {
  std::string task;
  std::string form;      ///< empty: environment.prompt
  std::string hardware;  ///< "auto": describe this machine; empty: as configured
  std::string feedback;  ///< name of a sample verdict of one turn; empty: the prompt
  std::string language;  ///< empty: all languages of the task
  bool json = false;
};

/// Returns an exit code.
int show_prompt(Terminal& terminal, LoadedConfig loaded, const PromptRequest& request);

}  // namespace hone
