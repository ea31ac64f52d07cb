// Reads listings of nvdisasm. The text is printable whatever the image was, and each counted instruction has a line.
#include <algorithm>

#include "examine/machine_code.hpp"
#include "fuzz/fuzz.hpp"

namespace hone::fuzz {

void one(std::string_view text) {
  for (const auto& [name, code] : read_machine_code(text)) {
    check(!name.empty(), "a kernel has a name");
    const auto is_safe = [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); };
    check(std::all_of(code.text.begin(), code.text.end(), is_safe), "the text is printable ASCII");
    const auto lines = std::count(code.text.begin(), code.text.end(), '\n');
    check(code.instructions >= 0 && code.instructions <= lines, "an instruction has a line");
    check(code.opcodes.size() <= kOpcodesMax, "opcodes are bounded");
    std::int64_t counted = 0;
    for (const auto& [opcode, count] : code.opcodes) counted += count;
    check(counted <= code.instructions, "an opcode belongs to an instruction");
  }
}

}  // namespace hone::fuzz
