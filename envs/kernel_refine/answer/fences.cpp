// A scanner for fences: prose until a fence opens, then code until a mark that is no part of it.
#include <algorithm>
#include <array>
#include <optional>

#include "kernel_refine/answer/blocks.hpp"
#include "kernel_refine/answer/text.hpp"

namespace hone::kernel_refine {
namespace {

constexpr std::size_t kFenceMin = 3;
// Unclosed comments are read to the end of the answer. After this many, marks in comments and strings close fences, too.
constexpr int kUnclosedMax = 8;

// Tags of other languages that often follow code. They and the names of languages tell an opening fence from prose.
constexpr std::array<std::string_view, 26> kOtherTags = {
    "text", "txt",  "plaintext", "output", "log",  "console",  "bash",       "sh",       "shell",
    "zsh",  "json", "yaml",      "diff",   "md",   "markdown", "cmake",      "makefile", "html",
    "xml",  "asm",  "ptx",       "rust",   "java", "go",       "javascript", "patch"};

struct Fence {
  char mark = 0;
  std::size_t length = 0;
  std::size_t begin = 0;  ///< offset of its first mark
  std::string_view info;  ///< the rest of its line
};

/// "cpp" of "cpp title=x", "{.cpp}", "language-cpp" and "cpp:main.cpp".
std::string tag_of(std::string_view info) {
  while (!info.empty() && (info.front() == '{' || info.front() == '.' || info.front() == '#'))
    info.remove_prefix(1);
  for (const std::string_view prefix : {"language-", "lang=", "language="}) {
    if (info.starts_with(prefix)) info.remove_prefix(prefix.size());
  }
  return to_lower(info.substr(0, info.find_first_of(" \t{},:;\"'")));
}

bool is_known_tag(std::string_view tag) {
  return grammar_of_tag(tag, Grammar::kNone) != Grammar::kNone ||
         std::find(kOtherTags.begin(), kOtherTags.end(), tag) != kOtherTags.end();
}

/// The rest of an info string after its tag.
std::string_view behind_tag(std::string_view info) {
  const std::size_t at = info.find_first_of(" \t");
  return at == std::string_view::npos ? std::string_view() : trim(info.substr(at));
}

bool is_attributes(std::string_view text) {
  return text.find_first_of("={}.") != std::string_view::npos;
}

/// Whether this info string belongs to an opening fence: a known tag, perhaps with attributes.
bool is_opening_info(std::string_view info) {
  const std::string_view rest = behind_tag(info);
  return is_known_tag(tag_of(info)) &&
         (rest.empty() || is_attributes(rest) || is_known_tag(to_lower(rest)));
}

std::size_t run_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && text[end] == text[at]) ++end;
  return end - at;
}

class Scanner {
 public:
  Scanner(std::string_view text, Grammar usual, bool is_quoted)
      : text_(text), usual_(usual), is_quoted_(is_quoted) {}

  std::vector<Block> run() {
    std::size_t at = usual_ != Grammar::kNone && !is_prose(first_line()) ? read_opened() : 0;
    while (at < text_.size()) at = read_prose(at);
    return std::move(blocks_);
  }

 private:
  struct Close {
    std::size_t code_end = 0, next = 0;
    bool found = false;
    bool is_lost = false;  ///< an unclosed comment or string hides the closing mark
  };

  std::string_view first_line() const {
    const std::string_view inside = trim(text_);
    return inside.substr(0, line_end(inside, 0));
  }
  std::size_t read_opened();
  std::size_t read_prose(std::size_t at);
  std::size_t read_quotation(std::size_t at);
  std::optional<Fence> find_opening(std::size_t at, std::size_t end);
  void add_inline(std::size_t begin, std::size_t code, std::size_t code_end, std::size_t end);
  std::string_view line_above(std::size_t at) const;
  std::size_t read_block(const Fence& fence);
  Close find_close(const Fence& fence, std::size_t begin, Grammar grammar);
  Close find_plain_close(const Fence& fence, std::size_t begin, std::size_t end) const;

  std::string_view text_;
  const Grammar usual_;
  const bool is_quoted_;
  int unclosed_ = 0;
  std::vector<Block> blocks_;
};

/// Reads an answer that begins with code (its opening fence was in the prompt, or it has none): up to the first mark, or
/// all. Returns the offset after it.
std::size_t Scanner::read_opened() {
  const std::string_view first = trim(text_.substr(0, line_end(text_, 0)));
  for (const std::string_view mark : {"```", "~~~", "<", ">", "[", "\\"}) {
    if (first.starts_with(mark)) return 0;
  }
  const bool is_tag = first.find(' ') == std::string_view::npos && is_known_tag(to_lower(first));
  const std::size_t begin = is_tag ? std::min(line_end(text_, 0) + 1, text_.size()) : 0;
  const Close close = find_close({'`', kFenceMin, 0, {}}, begin, usual_);
  // A mark on a line of its own opens a block if what stands before it is not clearly code.
  if (close.is_lost || (close.found && !begins_like_source(text_.substr(begin), usual_))) return 0;
  if (!close.found && close.code_end < text_.size()) return 0;
  Block block;
  block.is_complete = true;
  block.is_derived = !close.found;
  block.end = close.found ? close.next : 0;  // tags may stand in what is none
  block.code = text_.substr(begin, close.code_end - begin);
  if (!close.found) block.code = without_trailing_prose(block.code, usual_);
  blocks_.push_back(std::move(block));
  return close.found ? close.next : 0;
}

/// Reads prose from `at` to the end of its line, or a block that begins there. Returns the offset after it.
std::size_t Scanner::read_prose(std::size_t at) {
  const std::size_t end = line_end(text_, at);
  const std::string_view line = text_.substr(at, end - at);
  if (!is_quoted_ && line_begin(text_, at) == at && trim(line).starts_with('>'))
    return read_quotation(at);
  const std::optional<Fence> fence = find_opening(at, end);
  return fence ? read_block(*fence) : end + 1;
}

/// Lines that begin with '>' are read as an answer of their own.
std::size_t Scanner::read_quotation(std::size_t at) {
  const std::size_t begin = at;
  const std::string_view first = text_.substr(at, line_end(text_, at) - at);
  const std::string_view marks = first.substr(0, first.find_first_not_of("> \t"));
  const auto depth = std::count(marks.begin(), marks.end(), '>');
  std::vector<std::string_view> lines;
  bool spaced = true;  // a space after the mark belongs to it if every line has one
  while (at < text_.size()) {
    const std::size_t end = line_end(text_, at);
    std::string_view line = text_.substr(at, end - at);
    if (!trim(line).starts_with('>')) break;
    for (auto i = depth; i > 0 && trim(line).starts_with('>'); --i) {
      line.remove_prefix(line.find('>') + 1);
    }
    spaced = spaced && (trim(line).empty() || line.front() == ' ');
    lines.push_back(line);
    at = end + 1;
  }
  std::string inside;
  for (const std::string_view line : lines)
    append_line(inside, line.substr(spaced && !line.empty() ? 1 : 0));
  for (Block& block : Scanner(inside, usual_, true).run()) {
    block.is_quoted = true;
    block.begin = begin;
    block.end = at;
    blocks_.push_back(std::move(block));
  }
  return at;
}

/// The fence that opens in this part of a line and closes behind it. Those that close within the line are added.
std::optional<Fence> Scanner::find_opening(std::size_t at, std::size_t end) {
  const std::string_view line = text_.substr(0, end);  // nothing behind it is searched
  const std::size_t first = std::min(line.find_first_not_of(" \t", at), end);
  const bool begins_line = line_begin(text_, at) == at;
  if (begins_line && first < end && (text_[first] == '~' || text_[first] == '\'')) {
    const std::size_t length = run_at(text_, first), inside = first + length;
    const Fence fence{text_[first], length, first, trim(text_.substr(inside, end - inside))};
    const bool opens = fence.mark == '~' || is_opening_info(fence.info);
    return fence.length >= kFenceMin && opens ? std::optional(fence) : std::nullopt;
  }
  for (std::size_t tick = line.find('`', at); tick < end; tick = line.find('`', tick)) {
    const std::size_t length = run_at(text_, tick), inside = tick + length;
    if (length < kFenceMin) {
      tick = inside;
      continue;
    }
    std::size_t close = line.find('`', inside);
    while (close < end && run_at(text_, close) < length)
      close = line.find('`', close + run_at(text_, close));
    if (close < end) {
      add_inline(tick, inside, close, close + run_at(text_, close));
      tick = close + run_at(text_, close);
      continue;
    }
    const std::string_view info = trim(text_.substr(inside, end - inside));
    if (info.find('`') != std::string_view::npos) return std::nullopt;
    const std::string_view rest = behind_tag(info);
    const Grammar grammar = grammar_of_tag(tag_of(info), usual_);
    const bool has_code = begins_like_source(info, usual_) || begins_like_source(rest, grammar);
    const bool opens = info.empty() || is_opening_info(info) || has_code ||
                       (begins_line && tick == first &&
                        (rest.empty() || is_attributes(rest) || is_known_tag(tag_of(info))));
    return opens ? std::optional(Fence{'`', length, tick, info}) : std::nullopt;
  }
  return std::nullopt;
}

/// ```cpp int f() { … }``` on one line.
void Scanner::add_inline(std::size_t begin, std::size_t code, std::size_t code_end,
                         std::size_t end) {
  std::string_view inside = trim(text_.substr(code, code_end - code));
  Block block;
  block.is_complete = block.is_derived = true;
  block.begin = begin;
  block.end = end;
  if (is_known_tag(tag_of(inside)) && !behind_tag(inside).empty()) {
    block.tag = tag_of(inside);
    inside = behind_tag(inside);
  }
  append_line(block.code, inside);
  blocks_.push_back(std::move(block));
}

/// The first mark that closes the fence outside comments and strings. A fence with a language's name closes nothing, but
/// another block begins there.
Scanner::Close Scanner::find_close(const Fence& fence, std::size_t begin, Grammar grammar) {
  bool line_start = true;
  for (std::size_t at = begin; at < text_.size();) {
    const char c = text_[at];
    const bool is_mark = c == fence.mark && (fence.mark == '`' || line_start);
    const std::size_t run = is_mark ? run_at(text_, at) : 0;
    const std::size_t behind = at + run;
    if (is_mark && run >= fence.length) {
      const std::string_view info = trim(text_.substr(behind, line_end(text_, behind) - behind));
      if (line_start && is_opening_info(info))
        return {line_begin(text_, at), line_begin(text_, at)};
      if (fence.mark == '`' || info.empty())
        return {line_start ? line_begin(text_, at) : at, behind, true};
    } else if (is_mark && c == '`') {
      at = behind;  // all of a run that is too short
      line_start = false;
      continue;
    }
    const std::size_t end = end_of_literal(text_, begin, at, grammar);
    if (end == text_.size() && end > at + 1) return {end, end, false, true};
    line_start = c == '\n' || (line_start && (c == ' ' || c == '\t'));
    if (end > at) line_start = false;
    at = std::max(end, at + 1);
  }
  return {text_.size(), text_.size()};
}

/// The first line of marks alone, or else the first line that ends with them, wherever they stand in the code.
Scanner::Close Scanner::find_plain_close(const Fence& fence, std::size_t begin,
                                         std::size_t end) const {
  Close glued;
  for (std::size_t at = begin; at < end;) {
    const std::size_t stop = std::min(line_end(text_, at), end);
    const std::string_view line = trim(text_.substr(at, stop - at));
    std::size_t marks = 0;
    while (marks < line.size() && line[line.size() - 1 - marks] == fence.mark) ++marks;
    if (marks >= fence.length && marks == line.size()) return {at, stop + 1, true};
    if (marks >= fence.length && fence.mark == '`' && !glued.found) {
      const std::size_t behind = static_cast<std::size_t>(line.data() - text_.data()) + line.size();
      glued = {behind - marks, behind, true};
    }
    at = stop + 1;
  }
  return glued;
}

/// The last line with words before `at`, if it is short: it is often a file's name.
std::string_view Scanner::line_above(std::size_t at) const {
  constexpr std::size_t kNear = 160;
  const std::size_t begin = line_begin(text_, at);
  const std::string_view before =
      trim(text_.substr(begin - std::min(begin, kNear), std::min(begin, kNear)));
  return before.substr(before.rfind('\n') + 1);
}

std::size_t Scanner::read_block(const Fence& fence) {
  const std::size_t info_end = line_end(text_, fence.begin);
  Block block;
  block.is_quoted = is_quoted_;
  block.begin = fence.begin;
  block.tag = tag_of(fence.info);
  std::size_t begin = std::min(info_end + 1, text_.size());
  const std::string_view rest = behind_tag(fence.info);
  if (!is_known_tag(block.tag) && begins_like_source(fence.info, usual_)) {
    block.tag.clear();
    begin = fence.begin + fence.length;
  } else if (begins_like_source(rest, grammar_of_tag(block.tag, usual_))) {
    begin = static_cast<std::size_t>(rest.data() - text_.data());
  } else if (is_known_tag(to_lower(rest))) {
    block.tag += " " + to_lower(rest);  // two names of one language
  }
  block.file = std::string(line_above(fence.begin)) + "\n" + std::string(fence.info);
  const Grammar grammar =
      unclosed_ < kUnclosedMax ? grammar_of_tag(block.tag, usual_) : Grammar::kNone;
  Close close = find_close(fence, begin, grammar);
  if (!close.found) {
    unclosed_ += close.is_lost ? 1 : 0;
    Close plain = find_plain_close(fence, begin, close.code_end);
    if (!plain.found)
      plain = find_plain_close({fence.mark, kFenceMin, 0, {}}, begin, close.code_end);
    if (plain.found) close = plain;
  }
  block.is_complete = close.found;
  block.end = std::min(close.next, text_.size());
  each_line(text_.substr(begin, std::max(close.code_end, begin) - begin),
            [&](std::string_view line, std::size_t) {
              append_line(block.code, line);
              return true;
            });
  blocks_.push_back(std::move(block));
  return std::max(close.next, begin);
}

}  // namespace

std::vector<Block> find_fences(std::string_view answer, Grammar usual) {
  return Scanner(answer, usual, false).run();
}

}  // namespace hone::kernel_refine
