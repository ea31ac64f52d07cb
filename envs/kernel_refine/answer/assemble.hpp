// Assembles a source that an answer gives in several blocks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernel_refine/answer/blocks.hpp"

namespace hone::kernel_refine {

/// The code of `best` with the parts that it needs from other blocks of the same grammar. In C, a block that bears the name
/// of an #include "name" replaces that line. Blocks that define names which `best` uses and does not bind are put before it;
/// of several that define a name, the last. A block that uses the entry is an example of a call and never a part.
std::string assemble(const Block& best, const std::vector<Block>& blocks, std::string_view entry,
                     Grammar grammar);

}  // namespace hone::kernel_refine
