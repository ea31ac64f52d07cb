// Innermost loops of a submission, from the compiler's assembler text or PTX.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "examine/lane_access.hpp"
#include "model/value.hpp"

namespace hone {

/// A loop that contains no other loop, or a function or kernel without loops.
struct CodeBlock {
  std::string function;  ///< as in the text, perhaps a mangled name
  bool is_loop = false;
  std::int64_t depth = 0;                      ///< number of loops around it
  std::int64_t line_first = 0, line_last = 0;  ///< lines of the source; 0: unknown
  std::int64_t instructions = 0;
  /// Of them. On a processor, arithmetic on vectors and on single numbers; `gathers` are loads from addresses in a
  /// vector. On a device, loads and stores of global memory, wide ones (v2, v4) among them, and of spilled registers.
  std::int64_t vector = 0, scalar = 0, gathers = 0, divisions = 0, calls = 0;
  std::int64_t global = 0, global_wide = 0, shared = 0, local = 0, barriers = 0;
  std::int64_t multiply_adds = 0;  ///< on a device: floating-point instructions `fma`
  std::string text;  ///< its instructions; "; line 14" where the source's line changes
};

/// Limits of a compiler's text: bytes, and steps of work. A step is a line that is read, or an instruction of a loop.
inline constexpr std::size_t kCodeTextMax = std::size_t{2} << 20, kCodeWorkMax = 4'000'000;

struct CodeListing {
  std::vector<CodeBlock> blocks;
  std::vector<LaneAccess> accesses;   ///< of kernels; the most loops around them first
  std::vector<std::string> left_out;  ///< what exceeded a limit; empty: nothing
  std::size_t work = 0;               ///< steps, at most kCodeWorkMax
};

/// Most accesses in a listing.
inline constexpr std::size_t kAccessesMax = 64;

/// The blocks of the text: vectorized loops first, then the deepest, then the longest. (A vectorized loop has scalar copies for the
/// rest of its elements.) The text is untrusted: at most `count_max` blocks, each with at
/// most `bytes_max` bytes of text. `source_name`: the file whose lines count.
CodeListing code_blocks(std::string_view assembly, std::string_view source_name,
                        std::size_t count_max, std::size_t bytes_max);

/// {"function", "is_loop", "lines": [first, last]|nil, "instructions", the counts that are not 0, "text"}.
Value code_block_to_value(const CodeBlock& block);

}  // namespace hone
