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
  std::string language;  ///< one of those offered; empty where the response does not say
  std::string reason;    ///< when not found: what was looked for and what was there
};

/// Takes the last block that defines the entry (parsed, not searched), first one whose tag is empty or means an offered
/// language and that something closes. Where none defines it, as behind a macro: the last closed block with such a tag. To
/// that come the parts that it needs from other blocks: a header that it includes by name, functions and imports that it
/// uses and does not have.
///
/// For Python, triton_kernel_wrapper() stands for the entry, too. Any bytes may come in.
Extracted extract_code(std::string_view response, std::string_view entry,
                       const std::vector<std::string>& languages);

}  // namespace hone::kernel_refine
