// Reads AMD's code objects, which are ELF files: what a variable of ours in one points at.
#pragma once

#include <string>
#include <string_view>

namespace hone_gpu {

/// The name of the function whose address the linker puts into `variable`. A Failure where the image is
/// no ELF file of 64 bits or has no such variable.
std::string pointed_at(std::string_view image, std::string_view variable);

}  // namespace hone_gpu
