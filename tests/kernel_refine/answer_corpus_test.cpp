// For each answer of tests/kernel_refine/answers, the extracted code is what a person would take. The README there
// has the format.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "kernel_refine/extract.hpp"
#include "places.hpp"

namespace hone::kernel_refine {
namespace {

struct Answer {
  std::string file, name, response, code;
  bool has_code = true;
  std::string language, entry;
};

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

/// "{{name}}", "{{name|}}" without its last newline, "{{bytes 0d 0a}}".
std::string expanded(const std::string& text,
                     const std::map<std::string, std::string>& definitions) {
  std::string result;
  std::size_t at = 0;
  for (std::size_t open = text.find("{{"); open != std::string::npos; open = text.find("{{", at)) {
    result.append(text, at, open - at);
    const std::size_t close = text.find("}}", open);
    std::string name = text.substr(open + 2, close - open - 2);
    at = close + 2;
    if (name.starts_with("bytes ")) {
      for (std::size_t i = 6; i < name.size(); i += 3) {
        result += static_cast<char>(std::strtol(name.substr(i, 2).c_str(), nullptr, 16));
      }
      continue;
    }
    const bool bare = name.ends_with("|");
    if (bare) name.pop_back();
    EXPECT_TRUE(definitions.contains(name)) << name;
    std::string value = definitions.contains(name) ? definitions.at(name) : std::string();
    if (bare) value.pop_back();
    result += value;
    // A definition ends its line: what follows it in the file stands on the next one.
    if (!bare && at < text.size() && text[at] == '\n') ++at;
  }
  return result.append(text, at);
}

std::string until_end(std::ifstream& file) {
  std::string text, line;
  while (std::getline(file, line) && line != "end") text += line + "\n";
  return text;
}

std::vector<Answer> read_answers(const std::filesystem::path& path) {
  std::vector<Answer> answers;
  std::map<std::string, std::string> definitions;
  std::ifstream file(path);
  std::string line, language, entry;
  Answer now;
  bool in_answer = false;
  while (std::getline(file, line)) {
    const std::string rest = line.substr(std::min(line.find(' ') + 1, line.size()));
    if (line.starts_with("take ") && in_answer) {
      now.response = expanded(now.response, definitions);
      now.has_code = rest != "nothing";
      now.code = rest == "nothing" ? "" : rest == "text" ? until_end(file) : definitions.at(rest);
      answers.push_back(now);
      in_answer = false;
    } else if (in_answer) {
      now.response += line + "\n";
    } else if (line.starts_with("answer ")) {
      now = {path.filename().string(), rest, "", "", true, language, entry};
      in_answer = true;
    } else if (line.starts_with("define ")) {
      definitions[rest] = until_end(file);
    } else if (line.starts_with("language ")) {
      language = rest;
    } else if (line.starts_with("entry ")) {
      entry = rest;
    }
  }
  EXPECT_FALSE(in_answer) << path << ": the last answer has no 'take'";
  return answers;
}

TEST(AnswerCorpus, EachAnswer_GivesTheExpectedCode) {
  std::vector<std::filesystem::path> files;
  for (const auto& one :
       std::filesystem::directory_iterator(test::source_dir() / "tests/kernel_refine/answers")) {
    if (one.path().extension() == ".txt") files.push_back(one.path());
  }
  std::sort(files.begin(), files.end());
  std::size_t right = 0, all = 0;
  for (const auto& path : files) {
    for (const Answer& answer : read_answers(path)) {
      const Extracted found = extract_code(answer.response, answer.entry, {answer.language});
      const bool is_right =
          found.found == answer.has_code && trimmed(found.code) == trimmed(answer.code);
      EXPECT_TRUE(is_right) << answer.file << ": " << answer.name << "\n--- found: " << found.reason
                            << "\n"
                            << found.code << "--- expected:\n"
                            << answer.code;
      ++all;
      right += is_right ? 1u : 0u;
    }
  }
  std::printf("%zu of %zu answers\n", right, all);
  EXPECT_GE(all, 150u);
}

}  // namespace
}  // namespace hone::kernel_refine
