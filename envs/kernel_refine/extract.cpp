// A line scanner for fences, a search for tags, and one ranking over what both found.
#include "kernel_refine/extract.hpp"

#include <algorithm>
#include <tuple>

namespace hone::kernel_refine {
namespace {

constexpr std::string_view kOpenThink = "<think>", kCloseThink = "</think>";
constexpr std::string_view kTags[] = {"triton", "kernel", "code", "answer"};
constexpr std::size_t kFenceMin = 3;

struct Block {
  std::string code;
  std::string tag;  ///< what follows the fence, lower case; empty for tags
  bool complete = false;
  std::size_t begin = 0, end = 0;  ///< in the text, delimiters included
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
        blocks.push_back({{}, tag_of(fence.info), false, at, next});
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
        Block block{{}, {}, close != std::string::npos, at, end};
        append_line(block.code, trim(std::string_view(text).substr(begin, end - begin)));
        blocks.push_back(std::move(block));
      }
      at = close == std::string::npos ? close : plain.find(opening, close);
    }
  }
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
  return name == "h" ? "c" : name;
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

  const Block* best = nullptr;
  std::tuple<bool, bool, std::size_t> best_rank;
  for (const Block& block : blocks) {
    const std::string language = language_of_tag(block.tag);
    const bool offered = language.empty() ||
                         std::find(languages.begin(), languages.end(), language) != languages.end();
    if (!offered || trim(block.code).empty()) continue;
    const bool has_entry = block.code.find(entry) != std::string::npos;
    const std::tuple rank(block.complete, has_entry, block.begin);
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
          "looked for a fenced block tagged " + offered + " (or not at all) with the function '" +
              std::string(entry) + "'; " + describe(blocks)};
}

}  // namespace hone::kernel_refine
