// Golden submissions of a task: files of which it is said what becomes of them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/verdict.hpp"

namespace hone {

/// One file, and the words of its first line: "// expect: correct speedup>1".
struct Golden {
  std::string file;  ///< its name in the folder
  std::string source;
  std::string language;
  Outcome outcome = Outcome::kCorrect;
  char speed = 0;  ///< '>' or '<': than the baseline; 0: not said
};

/// Which of a backend's languages a file is written in, by its ending: .c, .cpp and .cc, or .cu for the
/// first language that is neither C nor C++; .NAME.cu for that language alone. "" where it is none of
/// them.
std::string language_of_file(std::string_view file, const std::vector<std::string>& languages);

/// All files of a folder that are in one of the languages, by name; none where there is no folder. A
/// first line that says nothing is invalid_argument "x.cpp:1: …".
Result<std::vector<Golden>> read_goldens(const std::filesystem::path& folder,
                                         const std::vector<std::string>& languages);

/// How a verdict differs from what was expected; "" where it does not. A speed differs when the
/// whole confidence interval lies on the other side of 1.
std::string difference(const Golden& golden, const Verdict& verdict);

}  // namespace hone
