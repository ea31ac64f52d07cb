// A line scanner for fences, a search for tags, and one ranking over what both found.
#include "kernel_refine/extract.hpp"

#include <algorithm>
#include <tuple>

namespace hone::kernel_refine {
namespace {

constexpr std::string_view kOpenThink = "<think>", kCloseThink = "</think>";
constexpr std::string_view kTags[] = {"triton", "kernel", "code", "answer"};
constexpr std::size_t kFenceMin = 3;
constexpr std::string_view kPython = "python";
constexpr std::string_view kWrapper = "triton_kernel_wrapper";

struct Block {
  std::string code;
  std::string tag;  ///< what follows the fence, lower case; empty for tags
  bool complete = false;
  std::size_t begin = 0, end = 0;  ///< in the text, delimiters included
  std::size_t indent = 0;          ///< of its fence
};

struct Fence {
  char mark = 0;
  std::size_t length = 0;
  std::string_view info;
};

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// Without empty lines at the begin and white space at the end: the first line's indent may mean
/// something.
std::string_view trim_lines(std::string_view text) {
  const std::string_view inside = trim(text);
  const auto before = static_cast<std::size_t>(inside.data() - text.data());
  const std::size_t newline = inside.empty() ? before : text.substr(0, before).rfind('\n');
  const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  return inside.empty() ? inside : text.substr(begin, before - begin + inside.size());
}

/// A line that could open or close a fence; length 0 for any other. Lists indent their blocks, so
/// any indent will do.
Fence read_fence(std::string_view line) {
  const std::string_view text = trim(line);
  if (text.empty() || (text[0] != '`' && text[0] != '~')) return {};
  const std::size_t length = std::min(text.find_first_not_of(text[0]), text.size());
  if (length < kFenceMin) return {};
  const std::string_view info = trim(text.substr(length));
  if (text[0] == '`' && info.find('`') != std::string_view::npos) return {};
  return {text[0], length, info};
}

/// "cpp" of "cpp title=x", "{.cpp}" or "C++".
std::string tag_of(std::string_view info) {
  if (info.substr(0, 2) == "{.") info.remove_prefix(2);
  return lower(info.substr(0, info.find_first_of(" \t{},:;")));
}

/// Carriage returns at line ends are dropped: they are the transport's, not the code's.
void append_line(std::string& code, std::string_view line) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  code.append(line);
  code += '\n';
}

std::vector<Block> find_fences(std::string_view text) {
  std::vector<Block> blocks;
  Fence open;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t newline = text.find('\n', at);
    const std::size_t next = newline == std::string_view::npos ? text.size() : newline + 1;
    const std::string_view line =
        text.substr(at, (newline == std::string_view::npos ? next : newline) - at);
    const Fence fence = read_fence(line);
    if (open.length == 0) {
      if (fence.length > 0) {
        open = fence;
        const std::size_t indent = std::min(line.find_first_not_of(" \t"), line.size());
        blocks.push_back({{}, tag_of(fence.info), false, at, next, indent});
      }
    } else if (fence.mark == open.mark && fence.length >= open.length && fence.info.empty()) {
      blocks.back().complete = true;
      blocks.back().end = next;
      open = {};
    } else {
      append_line(blocks.back().code, line);
      blocks.back().end = next;
    }
    at = next;
  }
  return blocks;
}

/// Fences come in order and do not overlap, so both questions are binary searches: a response may
/// hold very many.
bool inside(const std::vector<Block>& fences, std::size_t at) {
  const auto after = std::partition_point(fences.begin(), fences.end(),
                                          [at](const Block& b) { return b.begin <= at; });
  return after != fences.begin() && at < std::prev(after)->end;
}

bool any_begins_in(const std::vector<Block>& fences, std::size_t begin, std::size_t end) {
  const auto first = std::partition_point(fences.begin(), fences.end(),
                                          [begin](const Block& b) { return b.begin < begin; });
  return first != fences.end() && first->begin < end;
}

/// Tags outside fences; what has a fence of its own between its tags is that fence's.
void add_tagged(const std::string& text, const std::vector<Block>& fences,
                std::vector<Block>& blocks) {
  const std::string plain = lower(text);
  for (const std::string_view name : kTags) {
    const std::string opening = "<" + std::string(name) + ">";
    const std::string closing = "</" + std::string(name) + ">";
    for (std::size_t at = plain.find(opening); at != std::string::npos;) {
      const std::size_t begin = at + opening.size();
      const std::size_t close = plain.find(closing, begin);
      const std::size_t end = std::min(close, plain.size());
      if (!any_begins_in(fences, begin, end) && !inside(fences, at)) {
        Block block{{}, {}, close != std::string::npos, at, end, 0};
        append_line(block.code, trim_lines(std::string_view(text).substr(begin, end - begin)));
        blocks.push_back(std::move(block));
      }
      at = close == std::string::npos ? close : plain.find(opening, close);
    }
  }
}

bool is_word(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Whether a line begins, after its indent, with "class ModelNew" and the like.
bool begins_with(std::string_view line, std::string_view keyword, std::string_view name) {
  line = trim(line);
  if (!line.starts_with(keyword)) return false;
  line = trim(line.substr(keyword.size()));
  return line.starts_with(name) && (line.size() == name.size() || !is_word(line[name.size()]));
}

template <typename Visit>
void each_line(std::string_view text, Visit visit) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (!visit(text.substr(at, end - at), at)) return;
    at = end + 1;
  }
}

/// Whether Python defines the entry, or the function that may stand for it.
bool defines(std::string_view code, std::string_view entry) {
  bool found = false;
  each_line(code, [&](std::string_view line, std::size_t) {
    const std::string_view rest = trim(line);
    const std::string_view after =
        rest.starts_with(entry) ? trim(rest.substr(entry.size())) : std::string_view();
    const bool assigned = after.starts_with('=') && !after.starts_with("==");
    found = assigned || begins_with(line, "class ", entry) || begins_with(line, "def ", entry) ||
            begins_with(line, "def ", kWrapper);
    return !found;
  });
  return found;
}

/// The name of a tag that is all of this line: "<triton>", or with `slash` "</triton>".
std::string_view tag_line(std::string_view line, bool slash) {
  const std::string text = lower(trim(line));
  for (const std::string_view name : kTags) {
    if (text == (slash ? "</" : "<") + std::string(name) + ">") return name;
  }
  return {};
}

/// A fence that nothing closes ends where the tag does that was opened before it.
void end_at_tag(std::string_view text, Block& block) {
  std::string_view open;
  each_line(text.substr(0, block.begin), [&](std::string_view line, std::size_t) {
    const std::string_view opened = tag_line(line, false);
    if (!opened.empty()) open = opened;
    return true;
  });
  if (open.empty()) return;
  each_line(block.code, [&](std::string_view line, std::size_t at) {
    if (tag_line(line, true) != open) return true;
    block.code.resize(at);
    block.complete = true;
    return false;
  });
}

/// Of Python: tags around the code in its fence, and the fence's indent, are not the code's.
void make_python(std::string_view text, Block& block) {
  if (!block.complete) end_at_tag(text, block);
  std::vector<std::string_view> lines;
  each_line(block.code, [&](std::string_view line, std::size_t) {
    const std::size_t blank = std::min(line.find_first_not_of(" \t"), line.size());
    lines.push_back(line.substr(std::min(blank, block.indent)));
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
  std::string code;
  for (std::size_t i = first; i < last; ++i) append_line(code, lines[i]);
  block.code = std::move(code);
}

/// A response without any block that is nothing but Python.
void add_bare(const std::string& text, std::string_view entry, std::vector<Block>& blocks) {
  const std::string_view source = trim(text);
  const bool begins = source.starts_with("import ") || source.starts_with("from ") ||
                      source.starts_with("#") || source.starts_with("\"\"\"") ||
                      source.starts_with("@triton.");
  if (!blocks.empty() || !begins || !defines(source, entry)) return;
  Block block{{}, {}, true, 0, text.size(), 0};
  each_line(source, [&](std::string_view line, std::size_t) {
    append_line(block.code, line);
    return true;
  });
  blocks.push_back(std::move(block));
}

/// What stood in the response, for the reason: "2 blocks, tagged python, text".
std::string describe(const std::vector<Block>& blocks) {
  constexpr std::size_t kShown = 4;
  if (blocks.empty()) return "found none";
  std::string tags;
  for (std::size_t i = 0; i < std::min(blocks.size(), kShown); ++i) {
    std::string tag = trim(blocks[i].code).empty() ? "an empty block" : blocks[i].tag.substr(0, 24);
    for (char& c : tag) {
      if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) c = '?';
    }
    tags += (i > 0 ? ", " : "") + tag;
  }
  return "found " + std::to_string(blocks.size()) +
         (blocks.size() == 1 ? " block: " : " blocks: ") + tags +
         (blocks.size() > kShown ? ", …" : "");
}

}  // namespace

std::string language_of_tag(std::string_view tag) {
  const std::string name = lower(tag);
  for (const std::string_view known :
       {"c++", "cpp", "cxx", "cc", "hpp", "c++17", "c++20", "cpp17", "cpp20"}) {
    if (name == known) return "c++";
  }
  for (const std::string_view known : {"py", "python3", "triton", "pytorch", "torch"}) {
    if (name == known) return std::string(kPython);
  }
  return name == "h" ? "c" : name;
}

bool has_marks(std::string_view response) {
  bool found = false;
  each_line(response, [&](std::string_view line, std::size_t) {
    const std::string_view rest = trim(line);
    found = read_fence(line).length > 0 || !tag_line(line, false).empty() ||
            rest.starts_with("<think>") || rest.ends_with("</think>");
    return !found;
  });
  return found;
}

std::string remove_reasoning(std::string_view response) {
  std::string kept;
  std::size_t at = 0;
  std::size_t open = response.find(kOpenThink);
  while (true) {
    const std::size_t close = response.find(kCloseThink, at);
    if (open != std::string_view::npos && open < at) open = response.find(kOpenThink, at);
    if (close < open) {  // a lone close: all before it was reasoning
      kept.clear();
    } else {
      kept.append(response.substr(at, open - at));
      if (open == std::string_view::npos || close == std::string_view::npos) return kept;
    }
    at = close + kCloseThink.size();
  }
}

Extracted extract_code(std::string_view response, std::string_view entry,
                       const std::vector<std::string>& languages) {
  const std::string text = remove_reasoning(response);
  std::vector<Block> blocks = find_fences(text);
  add_tagged(text, std::vector<Block>(blocks), blocks);

  const bool python = std::find(languages.begin(), languages.end(), kPython) != languages.end();
  if (python) {
    for (Block& block : blocks) make_python(text, block);
    add_bare(text, entry, blocks);
  }

  const Block* best = nullptr;
  std::tuple<bool, bool, bool, std::size_t> best_rank;
  for (const Block& block : blocks) {
    const std::string language = language_of_tag(block.tag);
    const bool offered = language.empty() ||
                         std::find(languages.begin(), languages.end(), language) != languages.end();
    if (!offered || trim(block.code).empty()) continue;
    const bool has_entry = block.code.find(entry) != std::string::npos;
    const bool defined = python && defines(block.code, entry);
    const std::tuple rank(defined, block.complete, has_entry, block.begin);
    if (best == nullptr || rank > best_rank) {
      best = &block;
      best_rank = rank;
    }
  }
  if (best != nullptr) return {true, best->code, language_of_tag(best->tag), {}};
  std::string offered;
  for (const std::string& language : languages)
    offered += (offered.empty() ? "" : " or ") + language;
  return {false,
          {},
          {},
          "looked for a fenced block tagged " + offered + " (or not at all) with the " +
              (python ? "class '" : "function '") + std::string(entry) +
              (python ? "' or the function '" + std::string(kWrapper) + "'; " : "'; ") +
              describe(blocks)};
}

}  // namespace hone::kernel_refine
