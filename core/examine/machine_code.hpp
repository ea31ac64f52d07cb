// The machine code of kernels, from a listing of nvdisasm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace hone {

/// One kernel, with the device functions that the compiler placed in its section.
struct MachineCode {
  std::int64_t instructions = 0;  ///< without the padding at its end
  /// The number of instructions by opcode, without modifiers: "LDG" for LDG.E.128. At most kOpcodesMax opcodes.
  std::map<std::string, std::int64_t> opcodes;
  /// One instruction a line, labels only where an instruction names them, "// submission.py:14" where the source's line
  /// changes. Printable ASCII and line ends.
  std::string text;
};

inline constexpr std::size_t kOpcodesMax = 256;

/// The kernels of a listing, by their names in the image's symbol table. The listing is untrusted.
std::map<std::string, MachineCode, std::less<>> read_machine_code(std::string_view listing);

}  // namespace hone
