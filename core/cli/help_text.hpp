// The text of `--help`: of one command, and of hone.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace hone {

/// One option or argument of a command, as help and completions show it.
struct DeclaredOption {
  OptionSpec spec;
  bool takes_value = false;
  bool repeatable = false;
  std::string range = {};  ///< of an integer: "2 to 1,000,000"
};

/// The visible options of a command, in the order of their declaration; --help is the last.
std::vector<DeclaredOption> declared_options(Command& command);

/// Every line has at most `columns` columns, unless one word is longer.
std::string command_help(Command& command, std::size_t columns);
std::string hone_help(const Commands& commands, std::size_t columns);

/// "2 to 1,000,000"; "0 or more".
std::string range_text(std::int64_t low, std::int64_t high);

}  // namespace hone
