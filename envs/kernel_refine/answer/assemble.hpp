// A source that an answer gives in several blocks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernel_refine/answer/blocks.hpp"

namespace hone::kernel_refine {

/// The block's code with what it needs from the answer's other blocks of the same grammar: in C the text of a header in
/// place of its #include "name", where a block bears that name; before it the last blocks that define names which it uses
/// and does not bind. A block that uses the entry is an example of a call, and no part.
std::string assemble(const Block& best, const std::vector<Block>& blocks, std::string_view entry,
                     Grammar grammar);

}  // namespace hone::kernel_refine
