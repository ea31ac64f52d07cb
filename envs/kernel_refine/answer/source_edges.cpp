// Where a source begins and ends in a text without marks.
#include <algorithm>

#include "kernel_refine/answer/source.hpp"
#include "kernel_refine/answer/text.hpp"

namespace hone::kernel_refine {

bool is_prose(std::string_view line) {
  line = trim(line);
  if (line.empty() || line.starts_with("import ") ||
      line.find(" import ") != std::string_view::npos)
    return false;
  for (const std::string_view mark : {"- ", "* ", "> ", "## ", "### ", "| ", "**"}) {
    if (line.starts_with(mark)) return true;
  }
  const bool has_code = line.find_first_of("=(){}[];<>\"#@\\") != std::string_view::npos;
  const auto spaces = std::count(line.begin(), line.end(), ' ');
  const bool is_sentence = line[0] >= 'A' && line[0] <= 'Z' &&
                           std::string_view(".!?:,").find(line.back()) != std::string_view::npos;
  if (is_sentence && (spaces >= 1 || !has_code)) return line.find(" = ") == std::string_view::npos;
  return spaces >= 3 && !has_code;
}

bool begins_like_source(std::string_view text, Grammar grammar) {
  std::string_view source = trim(text);
  // A Markdown heading looks like a Python comment: the first line after them decides.
  while (grammar == Grammar::kPython && source.starts_with('#')) {
    source = trim(source.substr(line_end(source, 0)));
  }
  const std::string_view first = trim(source.substr(0, line_end(source, 0)));
  if (first.starts_with("from ") && first.find(" import ") == std::string_view::npos) return false;
  const auto begins = [&](const auto& words) {
    return std::any_of(std::begin(words), std::end(words),
                       [&](std::string_view word) { return first.starts_with(word); });
  };
  if (grammar == Grammar::kPython) {
    static constexpr std::string_view kWords[] = {"import ", "from ", "\"\"\"",  "'''",
                                                  "@",       "try:",  "__all__", "async def "};
    const bool is_definition = first.starts_with("class ") || first.starts_with("def ");
    return begins(kWords) || (is_definition && first.find_first_of(":(") != std::string_view::npos);
  }
  if (grammar != Grammar::kC || first.empty()) return false;
  if (first.starts_with("//") || first.starts_with("/*") || first.starts_with("[[")) return true;
  if (first[0] == '#') return first.size() > 1 && is_word(first[1]);  // and no heading of Markdown
  static constexpr std::string_view kWords[] = {
      "extern ",    "static ",       "template",      "namespace ",    "using ",
      "typedef ",   "struct ",       "class ",        "union ",        "enum ",
      "inline ",    "constexpr ",    "const ",        "auto ",         "void ",
      "bool ",      "char ",         "short ",        "int ",          "long ",
      "unsigned ",  "signed ",       "float ",        "double ",       "float2 ",
      "float4 ",    "half ",         "size_t ",       "int32_t ",      "int64_t ",
      "uint8_t ",   "uint32_t ",     "uint64_t ",     "std::",         "__global__",
      "__device__", "__host__",      "__constant__",  "__attribute__", "__extension__",
      "alignas",    "static_assert", "thread_local ", "volatile ",     "consteval ",
      "constinit ", "wchar_t ",      "asm(",          "_Pragma("};
  const bool ends_like_code =
      std::string_view(";{(,)>}:").find(first.back()) != std::string_view::npos;
  return begins(kWords) && (ends_like_code || first.find('(') != std::string_view::npos);
}

std::string without_trailing_prose(std::string_view text, Grammar grammar) {
  const std::string plain = without_literals(text, grammar);
  std::size_t kept = 0;
  each_line(plain, [&](std::string_view line, std::size_t at) {
    const std::string_view rest = trim(line), written = trim(text.substr(at, line.size()));
    if (grammar == Grammar::kPython && !is_space(line.empty() ? ' ' : line.front()) &&
        is_prose(rest))
      return false;
    const bool ends = grammar == Grammar::kPython
                          ? !written.empty()
                          : rest.ends_with('}') || rest.ends_with(';') || rest.starts_with('#') ||
                                (rest.empty() && !written.empty());
    if (ends) kept = at + line.size();
    return true;
  });
  return std::string(text.substr(0, kept)) + "\n";
}

}  // namespace hone::kernel_refine
