// Reading the first lines, and comparing.
#include "offline/golden.hpp"

#include <algorithm>
#include <sstream>

#include "base/files.hpp"
#include "terminal/terminal.hpp"

namespace hone {
namespace {

Status read_expectation(Golden& golden) {
  const std::string line = golden.source.substr(0, golden.source.find('\n'));
  std::istringstream words(line);
  std::string slashes, expect, outcome, speed, more;
  words >> slashes >> expect >> outcome >> speed >> more;
  const auto parsed = parse_outcome(outcome);
  const bool speeds = speed.empty() || speed == "speedup>1" || speed == "speedup<1";
  if (slashes != "//" || expect != "expect:" || !parsed || !speeds || !more.empty()) {
    return invalid_argument(golden.file + ":1: found '" + line.substr(0, 80) +
                            "', expected '// expect: ' and an outcome, such as 'correct "
                            "speedup>1', 'wrong' or 'build_failed'");
  }
  golden.outcome = *parsed;
  golden.speed = speed.empty() ? '\0' : speed[7];
  return {};
}

}  // namespace

std::string language_of_file(std::string_view file, const std::vector<std::string>& languages) {
  const auto is = [&](std::string_view language) {
    if (language == "c") return file.ends_with(".c");
    if (language == "c++") return file.ends_with(".cpp") || file.ends_with(".cc");
    if (!file.ends_with(".cu")) return false;
    const std::string_view stem = file.substr(0, file.size() - 3);
    const std::size_t dot = stem.rfind('.');
    return dot == std::string_view::npos || stem.substr(dot + 1) == language;
  };
  const auto found = std::find_if(languages.begin(), languages.end(), is);
  return found == languages.end() ? "" : *found;
}

Result<std::vector<Golden>> read_goldens(const std::filesystem::path& folder,
                                         const std::vector<std::string>& languages) {
  std::vector<Golden> goldens;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    Golden golden;
    golden.file = it->path().filename().string();
    golden.language = language_of_file(golden.file, languages);
    if (golden.language.empty()) continue;
    HONE_ASSIGN(golden.source, read_text(it->path()));
    HONE_TRY(read_expectation(golden));
    goldens.push_back(std::move(golden));
  }
  std::sort(goldens.begin(), goldens.end(),
            [](const Golden& a, const Golden& b) { return a.file < b.file; });
  return goldens;
}

std::string difference(const Golden& golden, const Verdict& verdict) {
  if (verdict.outcome != golden.outcome) {
    return "found " + std::string(outcome_name(verdict.outcome)) +
           (verdict.reason.empty() ? "" : " (" + verdict.reason + ")") + ", expected " +
           std::string(outcome_name(golden.outcome));
  }
  if (golden.speed == 0 || !verdict.speedup) return "";
  const Speedup& s = *verdict.speedup;
  const bool contradicted = golden.speed == '>' ? s.high < 1 : s.low > 1;
  if (!contradicted) return "";
  return "found a speedup of " + short_number(s.value) + " (" + short_number(s.low) + " to " +
         short_number(s.high) + "), expected speedup" + golden.speed + "1";
}

}  // namespace hone
