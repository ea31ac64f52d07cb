// Inserts headers by their names, then adds blocks whose definitions are used.
#include "kernel_refine/answer/assemble.hpp"

#include <algorithm>
#include <set>

#include "kernel_refine/answer/text.hpp"

namespace hone::kernel_refine {
namespace {

constexpr std::size_t kBlocksMax = 64;  // an answer with more blocks is not one program in parts

bool may_be_part(const Block& block, Grammar grammar) {
  return block.is_complete && !block.is_derived && !block.is_quoted &&
         grammar_of_tag(block.tag, grammar) == grammar;
}

/// Whether one block lies in the other, as code between tags within a fence does: then its text is there already.
bool overlap(const Block& x, const Block& y) { return x.begin < y.end && y.begin < x.end; }

/// The name between quotes of `#include "name"`; empty for any other line.
std::string_view included_name(std::string_view line) {
  line = trim(line);
  if (!line.starts_with('#')) return {};
  line = trim(line.substr(1));
  if (!line.starts_with("include")) return {};
  line = trim(line.substr(7));
  const std::size_t end = line.find('"', 1);
  return line.starts_with('"') && end != std::string_view::npos ? line.substr(1, end - 1)
                                                                : std::string_view();
}

/// Whether the block bears that file's name: in its opening mark, the line above or its first line.
bool bears_name(const Block& block, std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const auto names = [&](std::string_view text) {
    for (std::size_t at = text.find(name); at != std::string_view::npos;
         at = text.find(name, at + 1)) {
      const std::size_t end = at + name.size();
      if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end])))
        return true;
    }
    return false;
  };
  const std::string_view first =
      trim(std::string_view(block.code).substr(0, line_end(block.code, 0)));
  return names(block.file) || (first.starts_with("//") && names(first)) ||
         (first.starts_with("/*") && names(first));
}

/// Nothing but includes, other directives and comments.
bool is_preamble(std::string_view code) {
  bool has_include = false, only = true;
  each_line(without_literals(code, Grammar::kC), [&](std::string_view line, std::size_t) {
    line = trim(line);
    has_include = has_include || line.starts_with("#include");
    only = line.empty() || line.starts_with('#') || line.starts_with("using ");
    return only;
  });
  return has_include && only;
}

std::string with_headers(const Block& best, const std::vector<Block>& blocks,
                         std::set<const Block*>& used) {
  std::string code;
  each_line(best.code, [&](std::string_view line, std::size_t) {
    const std::string_view name = included_name(line);
    const auto header = std::find_if(blocks.rbegin(), blocks.rend(), [&](const Block& block) {
      return !name.empty() && &block != &best && may_be_part(block, Grammar::kC) &&
             bears_name(block, name);
    });
    if (header == blocks.rend()) {
      append_line(code, line);
    } else if (used.insert(&*header).second) {
      each_line(header->code, [&](std::string_view text, std::size_t) {
        if (trim(text) != "#pragma once") append_line(code, text);
        return true;
      });
    }
    return true;
  });
  return code;
}

}  // namespace

std::string assemble(const Block& best, const std::vector<Block>& blocks, std::string_view entry,
                     Grammar grammar) {
  if (best.is_derived || blocks.size() < 2 || blocks.size() > kBlocksMax) return best.code;
  std::set<const Block*> used{&best};
  std::string code = grammar == Grammar::kC ? with_headers(best, blocks, used) : best.code;
  std::set<std::string> defined = bound_names(code, grammar), wanted = used_names(code, grammar);
  defined.merge(defined_names(code, grammar));
  const bool has_includes = code.find("#include") != std::string::npos;
  // From the last block to the first: a later version of a part replaces an earlier one.
  std::vector<const Block*> parts;
  for (std::size_t i = blocks.size(); i-- > 0;) {
    const Block& block = blocks[i];
    if (used.contains(&block) || !may_be_part(block, grammar)) continue;
    if (overlap(block, best) || std::any_of(parts.begin(), parts.end(), [&](const Block* part) {
          return overlap(block, *part);
        }))
      continue;
    if (grammar == Grammar::kC && !has_includes && is_preamble(block.code)) {
      parts.push_back(&block);
      continue;
    }
    const std::set<std::string> given = defined_names(block.code, grammar),
                                uses = used_names(block.code, grammar);
    const bool clashes = std::any_of(given.begin(), given.end(), [&](const std::string& name) {
      return grammar == Grammar::kC && defined.contains(name);
    });
    const bool helps = std::any_of(given.begin(), given.end(), [&](const std::string& name) {
      return wanted.contains(name) && !defined.contains(name);
    });
    if (uses.contains(std::string(entry)) || clashes || !helps) continue;
    parts.push_back(&block);
    defined.insert(given.begin(), given.end());
    wanted.insert(uses.begin(), uses.end());
  }
  std::sort(parts.begin(), parts.end(),
            [](const Block* a, const Block* b) { return a->begin < b->begin; });
  std::string before;
  for (const Block* part : parts) before += part->code;
  return before + code;
}

}  // namespace hone::kernel_refine
