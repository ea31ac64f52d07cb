// Examines a kernel from a file as a tool of an episode does, for `hone tool` and `hone profile`.
#pragma once

#include <string>

#include "config/config.hpp"
#include "model/examination.hpp"
#include "terminal/terminal.hpp"

namespace hone {

struct ToolRequest {
  Tool tool = Tool::kCheck;
  std::string client;  ///< name of the command
  std::string task;
  std::string file;      ///< source; empty for the tool hardware
  std::string language;  ///< empty: from the file name's extension
  std::string roofline;  ///< SVG file to draw; empty: none
  bool json = false;
};

/// Prints what the tool answers. Returns kExitNo if the kernel is not correct, or sanitize found an error.
int examine_file(Terminal& terminal, LoadedConfig loaded, const ToolRequest& request);

}  // namespace hone
