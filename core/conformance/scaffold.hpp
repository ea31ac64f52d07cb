// `hone new`: a folder with a plugin that builds and passes `hone validate`, to be changed into
// one's own.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace hone {

/// "reward" (C++), "reward-c" (plain C), "dataset" (C++) and "backend" (C++).
const std::vector<std::string>& template_kinds();

/// "reward", "dataset" and "environment": the kinds of Python plugins.
const std::vector<std::string>& python_template_kinds();

/// Writes NAME.py into a folder that is made where it is missing, and gives its path. Errors as
/// below; a file of that name is failed_precondition.
///
///   HONE_ASSIGN(const auto file, write_python_template("reward", "my_first", "."));
Result<std::filesystem::path> write_python_template(std::string_view kind, std::string_view name,
                                                    const std::filesystem::path& folder,
                                                    const std::filesystem::path& share_root = {});

/// Writes a new folder: CMakeLists.txt, the source, and the headers it builds against, in
/// include/hone. A backend also gets hone.yaml and a task. It is made from share/template and share/include below `share_root`
/// (install_root() when empty). `name` is [a-z][a-z0-9_]*. invalid_argument for a bad kind or name,
/// failed_precondition for a folder that is there and not empty.
///
///   HONE_TRY(write_plugin_template("reward", "my_first", "my_first"));
///   // cmake -G Ninja -B build && cmake --build build && hone validate build/my_first.so
Status write_plugin_template(std::string_view kind, std::string_view name,
                             const std::filesystem::path& target_folder,
                             const std::filesystem::path& share_root = {});

}  // namespace hone
