// Reads which functions a shared library offers, without loading it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace hone {

/// The names that the library does not define. Reads the table of dynamic symbols of a 64-bit ELF file, and runs none of its code.
/// invalid_argument: it is no such file. not_found: there is no file.
Result<std::vector<std::string>> missing_symbols(const std::filesystem::path& library,
                                                 const std::vector<std::string>& names);

}  // namespace hone
