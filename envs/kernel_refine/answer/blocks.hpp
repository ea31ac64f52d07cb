// Finds the places in an answer where code may stand: fences, tags and what is written inside other formats.
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
  bool is_container = false;       ///< it is of another format, and the code is what is found in it
  bool is_derived =
      false;  ///< no block of code by its form, and counts only if it defines the entry
};

/// "c++" for "cpp", "C/C++" or ".cc"; a device language by its usual endings; "python" for "py", "Python3" or "triton"; else the tag
/// in lower case. C and C++ together are C++.
std::string language_of_tag(std::string_view tag);

/// Names of C's dialects for devices, which are names of tags, too.
const std::vector<std::string_view>& device_dialects();

/// How a block with this tag is read; an empty tag is read as `usual`.
Grammar grammar_of_tag(std::string_view tag, Grammar usual);

/// Every fence of the answer, in order: three or more ` or ~, or ''' with a language's name behind. A fence may begin behind
/// words on its line, and close behind code or in front of words. A mark in a comment or string of the code closes nothing.
/// An answer that begins with code is read as if a fence had been opened before it.
std::vector<Block> find_fences(std::string_view answer, Grammar usual);

/// Adds what stands between tags outside fences: <triton>, <kernel>, <code>, <answer> and their like, with attributes,
/// [PYTHON] and its like, and LaTeX's listings.
void add_tagged(const std::string& answer, std::vector<Block>& blocks);

/// Adds code in blocks of other formats, as derived blocks: the new lines of a diff, the replacement of a search/replace
/// block, a shell's here-document, strings of JSON, fences in a block of Markdown. What they are in becomes a container.
void add_contained(const std::string& answer, Grammar usual, std::vector<Block>& blocks);

/// Adds, as derived blocks, code without proper marks: what stands between any two fence lines, a source with nothing
/// around it, a source behind a blank line to the end.
void add_unmarked(const std::string& answer, Grammar usual, std::vector<Block>& blocks);

/// A line that is nothing but an opening tag.
struct TagLine {
  std::size_t at = 0;
  std::string name;
};
std::vector<TagLine> find_tag_lines(std::string_view answer);

/// Takes off what belongs to the form: tags inside a fence, indentation, a notebook's %% lines.
void clean(const std::vector<TagLine>& tags, Grammar usual, Block& block);

/// Whether some line is a fence's or a tag's, or reasoning stands there: a model's answer, and not a source alone.
bool has_marks(std::string_view response);

}  // namespace hone::kernel_refine
