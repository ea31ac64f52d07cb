// Blocks of an answer that may be code: fences, text between tags, and code inside other formats.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kernel_refine/answer/source.hpp"

namespace hone::kernel_refine {

struct Block {
  std::string code;
  std::string
      tag;  ///< the language that the opening mark names, as the model wrote it, in lower case; may be empty
  std::string file;  ///< the line above and the opening mark, where a file's name may stand
  std::size_t begin = 0, end = 0;  ///< offsets in the answer, marks included
  bool is_complete = false;        ///< something closed it
  bool is_quoted = false;          ///< it stands in a Markdown quotation
  bool is_container = false;  ///< it has another format; the code found in it is in derived blocks
  bool is_derived =
      false;  ///< found inside another format or without marks; counts only if it defines the entry
};

/// The language that a tag names: "c++" for "cpp", "C/C++" or ".cc"; a device language for its file endings; "python" for
/// "py", "Python3" or "triton"; else the tag in lower case. A tag that names C and C++ is C++.
std::string language_of_tag(std::string_view tag);

/// Names of C's dialects for devices, which also occur as tags.
const std::vector<std::string_view>& device_dialects();

/// How a block with this tag is read; an empty tag is read as `usual`.
Grammar grammar_of_tag(std::string_view tag, Grammar usual);

/// Every fence of the answer, in order: three or more ` or ~, or ''' followed by a language's name. Words may stand before
/// the opening mark; code may stand before the closing mark, and words after it. A mark in a comment or string of the code
/// does not close the fence. An answer that begins with code is read as if a fence had been opened before it.
std::vector<Block> find_fences(std::string_view answer, Grammar usual);

/// Adds the text between tags outside fences: <triton>, <kernel>, <code>, <answer> and similar tags, with attributes;
/// [PYTHON] and similar ones; LaTeX listings.
void add_tagged(const std::string& answer, std::vector<Block>& blocks);

/// Adds code in blocks of other formats, as derived blocks: the new lines of a diff, the replacement of a search/replace
/// block, a shell's here-document, strings of JSON, fences in a block of Markdown. The enclosing block becomes a container.
void add_contained(const std::string& answer, Grammar usual, std::vector<Block>& blocks);

/// Adds, as derived blocks, code without proper marks: the text between any two fence lines; without fence lines, a source
/// after an empty line or a line that ends with a colon.
void add_unmarked(const std::string& answer, Grammar usual, std::vector<Block>& blocks);

/// A line that consists of an opening tag.
struct TagLine {
  std::size_t at = 0;
  std::string name;
};
std::vector<TagLine> find_tag_lines(std::string_view answer);

/// Strips markup from a block: tags around its lines, common indentation, a notebook's %% lines, sentences at its end.
void clean(const std::vector<TagLine>& tags, Grammar usual, Block& block);

/// Whether the response has a fence, a tag or reasoning: then it is a model's answer and not a bare source.
bool has_marks(std::string_view response);

}  // namespace hone::kernel_refine
