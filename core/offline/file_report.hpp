// Output of `hone eval` for files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/verdict.hpp"
#include "terminal/terminal.hpp"

namespace hone {

/// One file, with its result.
struct JudgedFile {
  std::string file, text, language;
  std::optional<Result<Verdict>> result;
  std::optional<double> reward;
  std::string feedback;
};

/// Every file has a result. Returns an exit code.
int report_files(Terminal& terminal, const std::vector<JudgedFile>& files, bool json);

}  // namespace hone
