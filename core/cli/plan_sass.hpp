// The output of `hone plan --sass`: the machine code of a plan's kernels.
#pragma once

#include <string>
#include <vector>

#include "evaluate/disassembly.hpp"
#include "terminal/terminal.hpp"

namespace hone {

/// Prints each kernel: its facts, the number of instructions by opcode, and the listing.
void print_sass(Terminal& terminal, const std::vector<KernelCode>& kernels);

/// The same as a list of maps.
Value sass_value(const std::vector<KernelCode>& kernels);

/// "4 HGMMA, 8 LDG, 2 STG, 1 BAR": opcodes that show how a kernel computes and which memory it accesses.
std::string opcode_mix(const MachineCode& code);

}  // namespace hone
