// Checks that a shared library has certain functions, without loading it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace hone {

/// The names that the library does not define. Reads its dynamic symbol table, and runs none of its code.
/// invalid_argument: it is not a 64-bit ELF file, or is damaged. not_found: there is no file.
Result<std::vector<std::string>> missing_symbols(const std::filesystem::path& library,
                                                 const std::vector<std::string>& names);

}  // namespace hone
