// Code inside other formats, and code that nothing marks.
#include <algorithm>

#include "kernel_refine/answer/blocks.hpp"
#include "kernel_refine/answer/text.hpp"
#include "model/value.hpp"

namespace hone::kernel_refine {
namespace {

// Bounds the gaps between fence lines that are tried as blocks.
constexpr std::size_t kTriesMax = 64;
constexpr int kJsonDepth = 3;  // JSON in strings of JSON

Block derived(const Block& from, std::string code, std::string tag = {}) {
  Block block;
  block.code = std::move(code);
  block.tag = std::move(tag);
  block.begin = from.begin;
  block.end = from.end;
  block.is_complete = from.is_complete;
  block.is_quoted = from.is_quoted;
  block.is_derived = true;
  return block;
}

bool is_diff(const Block& block) {
  if (block.tag == "diff" || block.tag == "patch") return true;
  const std::string_view code = trim(block.code);
  return block.tag.empty() &&
         (code.starts_with("--- ") || code.starts_with("diff --git") || code.starts_with("@@ "));
}

/// The new file of a diff that contains all of it: one hunk from the first line on, or no hunk header. Else empty.
std::string new_lines(std::string_view diff) {
  std::string code;
  int hunks = 0;
  bool whole = true;
  each_line(diff, [&](std::string_view line, std::size_t) {
    if (line.starts_with("@@")) {
      whole = whole && ++hunks == 1 && (line.starts_with("@@ -0,0 ") || line.starts_with("@@ -1"));
    } else if (line.starts_with("--- ") || line.starts_with("+++ ") || line.starts_with("diff ") ||
               line.starts_with("index ") || line.starts_with("new file ") ||
               line.starts_with("\\ ")) {
      return true;
    } else if (line.starts_with('+') || line.starts_with(' ')) {
      append_line(code, line.substr(1));
    } else if (!line.starts_with('-')) {
      append_line(code, line);
    }
    return true;
  });
  return whole ? code : std::string();
}

/// The replacement in <<<<<<< SEARCH … ======= … >>>>>>> REPLACE.
std::string replacement(std::string_view text) {
  std::string code;
  enum { kBefore, kSearch, kReplace } part = kBefore;
  each_line(text, [&](std::string_view line, std::size_t) {
    if (line.starts_with("<<<<<<<")) {
      part = kSearch;
    } else if (part == kSearch && line.starts_with("=======")) {
      part = kReplace;
      code.clear();
    } else if (part == kReplace && line.starts_with(">>>>>>>")) {
      part = kBefore;
    } else if (part == kReplace) {
      append_line(code, line);
    }
    return true;
  });
  return code;
}

/// The texts of `cat > file << 'EOF' … EOF`.
void add_here_documents(const Block& block, std::vector<Block>& found) {
  std::string word, code;
  each_line(block.code, [&](std::string_view line, std::size_t) {
    if (!word.empty()) {
      if (trim(line) == word) {
        found.push_back(derived(block, std::move(code)));
        word.clear();
        code.clear();
      } else {
        append_line(code, line);
      }
      return true;
    }
    const std::size_t at = line.find("<<");
    if (at == std::string_view::npos) return true;
    std::string_view name = trim(line.substr(at + 2));
    while (!name.empty() &&
           std::string_view("-'\"\\ ").find(name.front()) != std::string_view::npos)
      name.remove_prefix(1);
    std::size_t end = 0;
    while (end < name.size() && is_word(name[end])) ++end;
    word = name.substr(0, end);
    return true;
  });
}

void add_json(std::string_view text, const Block& block, Grammar usual, int depth,
              std::vector<Block>& found);

void add_strings(const Value& value, const Block& block, Grammar usual, int depth,
                 std::vector<Block>& found) {
  if (value.is_string()) {
    const std::string& text = value.as_string();
    add_json(text, block, usual, depth - 1, found);  // a tool call's arguments are JSON in a string
    for (const Block& fence : find_fences(text, usual)) {
      found.push_back(derived(block, fence.code, fence.tag));
    }
    found.push_back(derived(block, text));
  } else if (value.is_array()) {
    for (const Value& one : value.as_array()) add_strings(one, block, usual, depth, found);
  } else if (value.is_map()) {
    for (const auto& [key, one] : value.as_map()) add_strings(one, block, usual, depth, found);
  }
}

/// Strings of JSON, and of JSON in them up to this depth: the arguments of a tool's call.
void add_json(std::string_view text, const Block& block, Grammar usual, int depth,
              std::vector<Block>& found) {
  text = trim(text);
  if (depth == 0 || (!text.starts_with('{') && !text.starts_with('['))) return;
  const auto value = from_json(text);
  if (value.ok()) add_strings(*value, block, usual, depth, found);
}

bool is_fence_line(std::string_view line) {
  line = trim(line);
  return line.starts_with("```") || line.starts_with("~~~");
}

/// Adds a source from the first line that looks like code: at the answer's start, after an empty line or after a line that
/// ends with a colon. Comments right before it belong to it; a Markdown heading looks like a Python comment.
void add_bare(std::string_view answer, Grammar grammar, std::vector<Block>& blocks) {
  constexpr std::size_t kNone = std::string_view::npos;
  bool may_begin = true;
  std::size_t comments = kNone;
  each_line(answer, [&](std::string_view line, std::size_t at) {
    const std::string_view rest = trim(line);
    const bool is_comment = grammar == Grammar::kPython && rest.starts_with('#');
    if (may_begin && !is_comment && begins_like_source(line, grammar)) {
      Block block;
      block.is_complete = block.is_derived = true;
      block.begin = std::min(at, comments);
      block.end = answer.size();
      block.code = without_trailing_prose(answer.substr(block.begin), grammar);
      blocks.push_back(std::move(block));
      return false;
    }
    if (is_comment && may_begin) comments = std::min(comments, at);
    if (!is_comment && !rest.empty()) comments = kNone;
    may_begin = rest.empty() || rest.ends_with(':') || (is_comment && may_begin);
    return true;
  });
}

}  // namespace

void add_contained(const std::string& answer, Grammar usual, std::vector<Block>& blocks) {
  std::vector<Block> found;
  for (Block& block : blocks) {
    if (block.is_derived) continue;
    const std::size_t before = found.size();
    if (is_diff(block)) found.push_back(derived(block, new_lines(block.code)));
    if (std::string code = replacement(block.code); !code.empty()) {
      found.push_back(derived(block, std::move(code)));
    }
    if (!block.tag.empty() && grammar_of_tag(block.tag, Grammar::kNone) == Grammar::kNone) {
      if (block.code.find("<<") != std::string::npos) add_here_documents(block, found);
      for (const Block& fence : find_fences(block.code, usual))
        found.push_back(derived(block, fence.code, fence.tag));
    }
    if (grammar_of_tag(block.tag, Grammar::kNone) == Grammar::kNone)
      add_json(block.code, block, usual, kJsonDepth, found);
    block.is_container = found.size() > before;
  }
  Block whole;
  whole.is_complete = true;
  whole.end = answer.size();
  add_json(answer, whole, usual, kJsonDepth, found);
  std::move(found.begin(), found.end(), std::back_inserter(blocks));
}

void add_unmarked(const std::string& answer, Grammar usual, std::vector<Block>& blocks) {
  if (usual == Grammar::kNone) return;
  Block gap;
  gap.is_complete = gap.is_derived = true;
  std::size_t gaps = 0;
  const std::string_view text = answer;
  each_line(text, [&](std::string_view line, std::size_t at) {
    if (!is_fence_line(line)) return true;
    gap.end = at;
    gap.code = text.substr(gap.begin, at - gap.begin);
    if (gap.begin > 0 || begins_like_source(gap.code, usual)) blocks.push_back(gap);
    gap.begin = std::min(at + line.size() + 1, text.size());
    return ++gaps < kTriesMax;
  });
  if (gaps == 0) add_bare(text, usual, blocks);
}

}  // namespace hone::kernel_refine
