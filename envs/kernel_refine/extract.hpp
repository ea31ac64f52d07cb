// Finds the code in a model's whole response: reasoning removed, then fenced blocks and tags, the
// best of them taken.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone::kernel_refine {

struct Extracted {
  bool found = false;
  std::string code;
  std::string
      language;  ///< as the block's tag says, one of those offered; empty where it says nothing
  std::string reason;  ///< when not found: what was looked for and what was there
};

/// Takes the last complete block that holds the entry's name and whose tag is empty or means an
/// offered language; failing that one without the name; failing that one that was cut off. Blocks
/// are fences of three or more ` or ~, or the tags <triton>, <kernel>, <code> and <answer>. Any
/// bytes may come in.
///
/// Of Python more is asked, since an example of how to call it often follows the code: first comes
/// a block that defines the entry, or triton_kernel_wrapper(), even where it was cut off. A fence's
/// indent is taken off, tags and fences may stand in each other, and a response that is nothing but
/// a source is one.
Extracted extract_code(std::string_view response, std::string_view entry,
                       const std::vector<std::string>& languages);

/// Whether some line is a fence's or a tag's, or reasoning stands there: a model's words, and not a source alone.
bool has_marks(std::string_view response);

/// Without <think>…</think>; an unclosed one goes to the end, and text before a lone </think> is
/// reasoning too (its opening stood in the prompt).
std::string remove_reasoning(std::string_view response);

/// "c++" for "cpp", "cxx", "cc", …; "c" for "c"; "python" for "py", "triton", …; other tags in lower
/// case as they are.
std::string language_of_tag(std::string_view tag);

}  // namespace hone::kernel_refine
