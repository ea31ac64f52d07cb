// Finds the code in a model's whole response.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernel_refine/answer/blocks.hpp"

namespace hone::kernel_refine {

struct Extracted {
  bool found = false;
  std::string code;
  std::string
      language;  ///< one of the offered languages; empty if the response does not determine it
  std::string reason;  ///< if no code was found: what was expected and what the response has
};

/// Takes the best block of a response and adds the parts that it needs from other blocks. Blocks that define the entry
/// (parsed, not searched) are preferred, then those with no tag or the tag of an offered language, then closed ones; of
/// equal blocks the last. docs/responses.md has all the rules.
///
/// For Python, triton_kernel_wrapper() stands for the entry, too. Any bytes may come in.
Extracted extract_code(std::string_view response, std::string_view entry,
                       const std::vector<std::string>& languages);

}  // namespace hone::kernel_refine
