// Golden submissions of a task: source files whose first line names the expected outcome.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/verdict.hpp"

namespace hone {

/// A source file, and the expectation in its first line: "// expect: correct speedup>1".
struct Golden {
  std::string file;  ///< name, without the folder
  std::string source;
  std::string language;
  Outcome outcome = Outcome::kCorrect;
  char speed = 0;  ///< '>': faster than the baseline; '<': slower; 0: either
};

/// The language of a file, one of `languages`, by its extension: .c, .cpp and .cc, or .cu for the first
/// language that is neither C nor C++. .NAME.cu is for the language NAME only. Empty: none of them.
std::string language_of_file(std::string_view file, const std::vector<std::string>& languages);

/// The files of a folder in one of the languages, sorted by name; none if the folder does not exist.
/// invalid_argument "x.cpp:1: …": a first line without an expectation.
Result<std::vector<Golden>> read_goldens(const std::filesystem::path& folder,
                                         const std::vector<std::string>& languages);

/// How a verdict differs from the expectation; empty: it does not. A speed differs if the whole confidence
/// interval is on the other side of 1.
std::string difference(const Golden& golden, const Verdict& verdict);

}  // namespace hone
