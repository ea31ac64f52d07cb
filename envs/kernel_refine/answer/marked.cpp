// Finds code between tags, and removes what is not code from blocks.
#include <algorithm>
#include <array>

#include "kernel_refine/answer/blocks.hpp"
#include "kernel_refine/answer/text.hpp"

namespace hone::kernel_refine {
namespace {

constexpr std::string_view kTags[] = {"triton",
                                      "kernel",
                                      "code",
                                      "answer",
                                      "python",
                                      "cpp",
                                      "solution",
                                      "final_answer",
                                      "final",
                                      "source",
                                      "source_code",
                                      "submission",
                                      "response",
                                      "modified_code",
                                      "improved_code",
                                      "optimized_code",
                                      "corrected_code",
                                      "kernel_code",
                                      "code_block",
                                      "python_code",
                                      "cpp_code",
                                      "file",
                                      "tool_call",
                                      "parameter",
                                      "pre",
                                      "output"};
constexpr std::string_view kBrackets[] = {"python", "code",   "cpp",   "c++",
                                          "triton", "answer", "kernel"};
constexpr std::string_view kListings[] = {"lstlisting", "minted", "verbatim", "code"};

/// Fences come in order and do not overlap, so both questions are binary searches: an answer may hold very many.
bool is_inside(const std::vector<Block>& fences, std::size_t at) {
  const auto after = std::partition_point(fences.begin(), fences.end(),
                                          [at](const Block& b) { return b.begin <= at; });
  return after != fences.begin() && at < std::prev(after)->end;
}

bool any_begins_in(const std::vector<Block>& fences, std::size_t begin, std::size_t end) {
  const auto first = std::partition_point(fences.begin(), fences.end(),
                                          [begin](const Block& b) { return b.begin < begin; });
  return first != fences.end() && first->begin < end && !first->is_derived;
}

/// Without empty lines at the start and white space at the end. The first line keeps its indent, which may matter.
std::string_view trim_lines(std::string_view text) {
  const std::string_view inside = trim(text);
  if (inside.empty()) return inside;
  const auto before = static_cast<std::size_t>(inside.data() - text.data());
  const std::size_t begin = line_begin(text, before);
  return text.substr(begin, before - begin + inside.size());
}

/// The language in a tag's attributes: "cpp" of ` language="cpp"` and ` class="language-cpp"`.
std::string language_in(std::string_view attributes) {
  for (const std::string_view key : {"language-", "language=", "lang=", "type="}) {
    const std::size_t at = attributes.find(key);
    if (at == std::string_view::npos) continue;
    std::string_view value = attributes.substr(at + key.size());
    while (!value.empty() && (value.front() == '"' || value.front() == '\''))
      value.remove_prefix(1);
    return std::string(value.substr(0, value.find_first_of("\"' >")));
  }
  return {};
}

std::string decode_entities(std::string text) {
  constexpr std::array<std::array<std::string_view, 2>, 5> kEntities = {
      {{"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}, {"&amp;", "&"}}};
  for (const auto& [entity, character] : kEntities) {
    for (std::size_t at = text.find(entity); at != std::string::npos;
         at = text.find(entity, at + 1)) {
      text.replace(at, entity.size(), character);
    }
  }
  return text;
}

/// The form of a tag: <name …>, [name] or \begin{name}….
struct Kind {
  std::string open, close;
  char last = '>';  ///< ends the opening, behind attributes
};

/// The end of the opening tag at `at`, after its attributes; 0 if it is not this tag but one with a longer name.
std::size_t behind_opening(std::string_view plain, std::size_t at, const Kind& kind) {
  const std::size_t behind = at + kind.open.size();
  if (kind.last == '\0') {  // \begin{lstlisting}[language=C++]
    std::size_t end = behind;
    while (end < plain.size() && (plain[end] == '[' || plain[end] == '{')) {
      end = std::min(plain.find(plain[end] == '[' ? ']' : '}', end), plain.size() - 1) + 1;
    }
    return end;
  }
  const char next = behind < plain.size() ? plain[behind] : '\0';
  constexpr std::size_t kAttributesMax = 400;  // bytes
  const std::string_view near = plain.substr(0, std::min(plain.size(), behind + kAttributesMax));
  const std::size_t last = near.find(kind.last, behind);
  const bool is_tag =
      (next == kind.last || next == ' ' || next == '=') && last < near.find('\n', behind);
  return is_tag ? last + 1 : 0;
}

/// The last opening in a part of the answer.
std::size_t last_opening(std::string_view plain, std::size_t begin, std::size_t end,
                         const Kind& kind) {
  const std::string_view part = plain.substr(begin, end - begin);
  for (std::size_t at = part.rfind(kind.open); at != std::string_view::npos;
       at = at == 0 ? std::string_view::npos : part.rfind(kind.open, at - 1)) {
    if (behind_opening(plain, begin + at, kind) != 0) return begin + at;
  }
  return std::string_view::npos;
}

/// Adds the texts between each closing tag of one name and the last opening before it, and the text after an unclosed
/// opening. `plain`: the answer in lower case.
void add_between(const std::string& answer, const std::string& plain, const Kind& kind,
                 std::string_view tag, const std::vector<Block>& fences,
                 std::vector<Block>& blocks) {
  for (std::size_t from = 0; from < plain.size();) {
    const std::size_t close = plain.find(kind.close, from);
    const std::size_t end = std::min(close, plain.size());
    const std::size_t at = last_opening(plain, from, end, kind);
    from = end + kind.close.size();
    if (at == std::string::npos) continue;
    const std::size_t begin = behind_opening(plain, at, kind);
    if (any_begins_in(fences, begin, end) || is_inside(fences, at)) continue;
    Block block;
    block.is_complete = close != std::string::npos;
    block.begin = at;
    block.end = end;
    block.tag = language_in(std::string_view(plain).substr(at, begin - at));
    if (block.tag.empty()) block.tag = tag;
    std::string inside(trim_lines(std::string_view(answer).substr(begin, end - begin)));
    constexpr std::string_view kData = "<![CDATA[";
    if (inside.starts_with(kData) && inside.ends_with("]]>")) {
      inside = inside.substr(kData.size(), inside.size() - kData.size() - 3);
    }
    if (inside.find('<') == std::string::npos) inside = decode_entities(std::move(inside));
    append_line(block.code, inside);
    blocks.push_back(std::move(block));
  }
}

/// The language that a tag's name implies. <triton> implies none: it holds whatever its pipeline's task asks for.
std::string_view tag_of_name(std::string_view name) {
  if (name == "tool_call") return "json";
  return name != "triton" && grammar_of_tag(name, Grammar::kNone) != Grammar::kNone
             ? name
             : std::string_view();
}

std::vector<std::string> tag_names() {
  std::vector<std::string> names(std::begin(kTags), std::end(kTags));
  for (const std::string_view dialect : device_dialects()) {
    names.emplace_back(dialect);
    names.push_back(std::string(dialect) + "_code");
  }
  return names;
}

/// The name of a tag that is all of this line: "<triton>", or with `slash` "</triton>".
std::string tag_line(std::string_view line, bool slash) {
  line = trim(line);
  if (!line.starts_with('<') || !line.ends_with('>')) return {};
  const std::string text = to_lower(line);
  static const std::vector<std::string> names = tag_names();
  for (const std::string& name : names) {
    if (text == (slash ? "</" : "<") + name + ">") return name;
  }
  return {};
}

/// An unclosed fence ends at the closing tag of the element around it.
void end_at_tag(const std::vector<TagLine>& tags, Block& block) {
  const auto behind = std::partition_point(
      tags.begin(), tags.end(), [&](const TagLine& tag) { return tag.at < block.begin; });
  if (behind == tags.begin()) return;
  const std::string& open = std::prev(behind)->name;
  const std::string closing = "</" + open + ">";
  each_line(block.code, [&](std::string_view line, std::size_t at) {
    if (!to_lower(trim(line)).starts_with(closing)) return true;
    block.code.resize(at);
    block.is_complete = true;
    return false;
  });
}

/// Whether the line is a chat template's token or a closing tag.
bool is_mark(std::string_view line) {
  return line.size() >= 3 && line.front() == '<' && line.back() == '>' &&
         (line[1] == '/' || line[1] == '|') && line.find_first_of(" (;") == std::string_view::npos;
}

/// Whether the line is a sentence: it begins with a capital, has three words or more, and ends like a sentence.
bool is_sentence(std::string_view line) {
  const bool begins = !line.empty() && line[0] >= 'A' && line[0] <= 'Z';
  return begins && std::string_view(".!?:").find(line.back()) != std::string_view::npos &&
         std::count(line.begin(), line.end(), ' ') >= 2 &&
         line.find_first_of("=(){};#\"") == std::string_view::npos;
}

/// The number of lines without sentences and marks at the end, before the closing fence.
std::size_t without_foreign_end(const std::vector<std::string_view>& lines, std::size_t first,
                                std::size_t last, Grammar grammar) {
  while (grammar != Grammar::kNone && last > first + 1) {
    const std::string_view line = trim(lines[last - 1]);
    if (!line.empty() && !is_mark(line) && !is_sentence(line)) break;
    --last;
  }
  return last - first;
}

/// Removes words and marks after C's last bracket or semicolon on the same line: they are not code.
void cut_words_behind(std::string& code, Grammar grammar) {
  if (grammar != Grammar::kC) return;
  const std::string plain = without_literals(code, grammar);
  const std::size_t end = plain.find_last_of("};");
  if (end == std::string::npos) return;
  const std::string_view behind = trim(std::string_view(plain).substr(end + 1));
  const bool is_words =
      behind.find(' ') != std::string_view::npos || behind.find('<') != std::string_view::npos;
  if (is_words && behind.find_first_of("()[]{}=#\"\n") == std::string_view::npos)
    code.replace(end + 1, std::string::npos, "\n");
}

std::size_t indent_of(std::string_view line) {
  return std::min(line.find_first_not_of(" \t"), line.size());
}

}  // namespace

void add_tagged(const std::string& answer, std::vector<Block>& blocks) {
  const std::string plain = to_lower(answer);
  const std::vector<Block> fences = blocks;
  for (const std::string& text : tag_names()) {
    add_between(answer, plain, {"<" + text, "</" + text + ">", '>'}, tag_of_name(text), fences,
                blocks);
  }
  for (const std::string_view name : kBrackets) {
    const std::string text(name);
    add_between(answer, plain, {"[" + text, "[/" + text + "]", ']'}, tag_of_name(name), fences,
                blocks);
  }
  for (const std::string_view name : kListings) {
    const std::string text(name);
    add_between(answer, plain, {"\\begin{" + text + "}", "\\end{" + text + "}", '\0'}, {}, fences,
                blocks);
  }
}

std::vector<TagLine> find_tag_lines(std::string_view answer) {
  std::vector<TagLine> lines;
  each_line(answer, [&](std::string_view line, std::size_t at) {
    std::string name = tag_line(line, false);
    if (!name.empty()) lines.push_back({at, std::move(name)});
    return true;
  });
  return lines;
}

void clean(const std::vector<TagLine>& tags, Grammar usual, Block& block) {
  if (!block.is_complete) end_at_tag(tags, block);
  const Grammar grammar = grammar_of_tag(block.tag, usual);
  cut_words_behind(block.code, grammar);
  std::vector<std::string_view> lines;
  each_line(block.code, [&](std::string_view line, std::size_t) {
    lines.push_back(line);
    return true;
  });
  std::size_t first = 0, last = lines.size();
  while (first < last && trim(lines[first]).empty()) ++first;
  while (first < last && trim(lines[last - 1]).empty()) --last;
  if (last - first >= 2 && !tag_line(lines[first], false).empty() &&
      tag_line(lines[first], false) == tag_line(lines[last - 1], true)) {
    ++first;
    --last;
  }
  while (first < last && grammar != Grammar::kNone && lines[first].starts_with("%%"))
    ++first;  // "%%cu" of a notebook
  last = first + without_foreign_end(lines, first, last, grammar);
  std::size_t indent = std::string_view::npos;
  for (std::size_t i = first; i < last; ++i) {
    if (!trim(lines[i]).empty()) indent = std::min(indent, indent_of(lines[i]));
  }
  std::string code;
  for (std::size_t i = first; i < last; ++i) {
    append_line(code, grammar == Grammar::kNone
                          ? lines[i]
                          : lines[i].substr(std::min(indent, indent_of(lines[i]))));
  }
  block.code = std::move(code);
}

bool has_marks(std::string_view response) {
  bool found = false;
  each_line(response, [&](std::string_view line, std::size_t) {
    const std::string_view rest = trim(line);
    found = rest.starts_with("```") || rest.starts_with("~~~") || !tag_line(line, false).empty() ||
            rest.starts_with("<think>") || rest.ends_with("</think>");
    return !found;
  });
  return found;
}

}  // namespace hone::kernel_refine
