// Small whole-file operations and the places where hone's own files lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace hone {

/// The whole file. A file of more than `bytes_max` is an invalid_argument that says its size.
Result<std::string> read_file(const std::filesystem::path& path, std::size_t bytes_max = 64u << 20);

/// Reads a text file: read_file(), then file_text() (base/utf8.hpp).
Result<std::string> read_text(const std::filesystem::path& path, std::size_t bytes_max = 64u << 20);

/// Writes a new file beside the target and renames it over: a reader sees the old or the new, never
/// a part.
Status write_file(const std::filesystem::path& path, std::string_view bytes);

/// Bytes that this process may still write to the file system of a folder.
Result<std::uint64_t> free_bytes(const std::filesystem::path& folder);

/// A sealed, read-only memory file with these bytes: nobody who gets it can change or resize it.
Result<UniqueFd> memory_file(std::string_view name, std::string_view bytes);

/// Whether a configured name is that of a plugin's file, "my_reward.py" or "build/my_reward.so", and
/// not a plugin's name.
bool is_plugin_path(std::string_view name);

/// The folder of the running program (`hone`), or the parent of libexec/ for a program in there.
/// What is shipped lies below it: libexec/, plugins/, share/.
std::filesystem::path install_root();

}  // namespace hone
