// Extraction of code from a model's response, and shortening of compiler output.
#include <algorithm>
#include <sstream>

#include "fuzz/fuzz.hpp"
#include "kernel_refine/answer/reasoning.hpp"
#include "kernel_refine/compiler_words.hpp"
#include "kernel_refine/extract.hpp"

namespace hone::fuzz {
namespace {

using namespace kernel_refine;

const std::vector<std::string> kLanguages{"c++", "c"};

std::size_t longest_run(std::string_view text, char mark) {
  std::size_t longest = 0, run = 0;
  for (const char c : text) {
    run = c == mark ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

/// Whether a line begins with three backticks.
bool has_fence_line(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin != line.npos && line.compare(begin, 3, "```") == 0) return true;
  }
  return false;
}

void check_found(std::string_view response, const Extracted& found) {
  check(found.reason.empty(), "what was found needs no reason");
  check(found.code.find_first_not_of(" \t\r\n") != std::string::npos, "code that is found is some");
  check(found.language.empty() || std::count(kLanguages.begin(), kLanguages.end(), found.language),
        "the language is one of those offered");
  constexpr std::size_t kPartsMax = 64;  // each of its parts may get a newline
  check(found.code.size() <= response.size() + kPartsMax, "code is no longer than its response");
  // What was extracted, in a fence that nothing in it can close, is extracted as it is.
  // Marks of reasoning, tags and tokens of chat templates mean something in a fence, too.
  if (found.code.find_first_of("<[\r%\xe2") != std::string::npos) return;
  // A line that begins with three backticks and more text is read as a fence, whatever surrounds it.
  if (has_fence_line(found.code)) return;
  // Words behind the last statement are left out, and the indent of all lines.
  const std::size_t last = found.code.find_last_not_of(" \t\n");
  const bool is_whole = found.code[last] == ';' || found.code[last] == '}';
  if (!is_whole || found.code.find_first_of(" \t\n") == 0) return;
  const std::string fence(std::max<std::size_t>(3, longest_run(found.code, '`') + 1), '`');
  const Extracted again =
      extract_code(fence + "cpp\n" + found.code + fence + "\n", "add_relu", kLanguages);
  check(again.found && again.code == found.code && again.language == "c++",
        "code in a fence is extracted as it is");
}

void check_words(std::string_view bytes) {
  const std::string valid = valid_utf8(bytes);
  check(is_utf8(valid), "valid_utf8 gives UTF-8");
  check((find_invalid_utf8(bytes) == std::string_view::npos) == is_utf8(bytes),
        "the first byte that is no UTF-8 is found");
  check(is_utf8(bytes) == (valid == bytes), "what is UTF-8 stays as it is");
  for (const std::size_t bytes_max : {0u, 2u, 3u, 10u, 64u, 200u}) {
    const std::string middle = cut_middle(valid, bytes_max), end = cut_end(valid, bytes_max);
    check(middle.size() <= bytes_max && end.size() <= bytes_max, "a cut text fits");
    check(is_utf8(middle) && is_utf8(end), "no character is cut in two");
  }
  for (const std::size_t bytes_max : {64u, 300u, 2000u}) {
    const std::string words = trim_compiler_words(valid, bytes_max);
    check(words.size() <= bytes_max, "a compiler's words fit");
    check(is_utf8(words), "a compiler's words stay UTF-8");
  }
}

}  // namespace

void one(std::string_view bytes) {
  const Extracted found = extract_code(bytes, "add_relu", kLanguages);
  if (found.found) {
    check_found(bytes, found);
  } else {
    check(found.code.empty(), "nothing found is no code");
    check(found.reason.starts_with("expected a ") && found.reason.size() < 512,
          "the reason says what was expected, in short");
    check(is_utf8(found.reason), "the reason is UTF-8");
  }
  check(answer_of(bytes).size() <= bytes.size(), "reasoning is only taken away");
  check_words(bytes);
}

}  // namespace hone::fuzz
